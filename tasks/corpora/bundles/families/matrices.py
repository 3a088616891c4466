"""Tasks on matrices, given as lists of rows."""

from tasks.corpora.bundles.draft import Draft, Family

Matrix = list[list[int]]
_SQUARES: list[tuple[Matrix]] = [
    ([[1, 2, 3], [4, 5, 6], [7, 8, 9]],),
    ([[0, -1], [3, 8]],),
    ([[5]],),
    ([[2, 7, 1, 8], [2, 8, 1, 8], [2, 8, 4, 5], [9, 0, 4, 5]],),
]


def _turn(how: str, then: str) -> Draft:
    turned, told = {
        "transpose": ("zip(*matrix)", "mirrors a matrix along its main diagonal"),
        "clockwise": ("zip(*matrix[::-1])", "turns a matrix a quarter clockwise"),
        "anticlockwise": ("list(zip(*matrix))[::-1]", "turns a matrix a quarter anticlockwise"),
        "half": ("[row[::-1] for row in matrix[::-1]]", "turns a matrix by half"),
        "mirror": ("[row[::-1] for row in matrix]", "mirrors each row of a matrix"),
        "upside": ("matrix[::-1]", "turns a matrix upside down"),
    }[how]
    final, aim, kind = {
        "rows": ("[list(row) for row in turned]", "returns it as a list of rows", "list[list[int]]"),
        "first": ("list(turned[0])", "returns the first row as a list", "list[int]"),
        "sums": ("[sum(row) for row in turned]", "returns the sums of its rows", "list[int]"),
        "flat": ("[cell for row in turned for cell in row]", "returns its numbers row by row in one list", "list[int]"),
    }[then]

    def oracle(matrix: Matrix) -> object:
        size = len(matrix)

        def cell_at(r: int, c: int) -> int:
            row, column = {
                "transpose": (c, r), "clockwise": (size - 1 - c, r), "anticlockwise": (c, size - 1 - r),
                "half": (size - 1 - r, size - 1 - c), "mirror": (r, size - 1 - c), "upside": (size - 1 - r, c),
            }[how]  # fmt: skip
            return matrix[row][column]

        rows = [[cell_at(r, c) for c in range(size)] for r in range(size)]
        flat = [cell for row in rows for cell in row]
        return {"rows": rows, "first": rows[0], "sums": [sum(row) for row in rows], "flat": flat}[then]

    return Draft(
        "turn(matrix)",
        f"{told} (square, a list of rows, not empty) and {aim}.",
        "turn a matrix round",
        f'''\
from collections.abc import Sequence


def turn(matrix: Sequence[Sequence[int]]) -> {kind}:
    """Turn a matrix round."""
    turned = list({turned})
    return {final}
''',
        (f"list({turned})", "list(matrix[1:] or [[0]])"),
        _SQUARES,
        oracle,
    )


def _lines(which: str, reduce: str) -> Draft:
    cells, told = {
        "diagonal": ("matrix[index][index] for index in range(size)", "on the main diagonal"),
        "other": ("matrix[index][size - 1 - index] for index in range(size)", "on the diagonal from the upper right"),
        "above": (
            "matrix[row][column] for row in range(size) for column in range(row, size)",
            "on and above the main diagonal",
        ),
        "below": (
            "matrix[row][column] for row in range(size) for column in range(row + 1)",
            "on and below the main diagonal",
        ),
        "even": (
            "matrix[row][column] for row in range(size) for column in range(row % 2, size, 2)",
            "whose row and column numbers add up to an even number",
        ),
        "corners": (
            "matrix[row][column] for row in (0, size - 1) for column in (0, size - 1)",
            "in the corners, counted once for each corner",
        ),
    }[which]
    word = {"sum": "sum", "max": "largest", "min": "smallest", "sorted": "sorted list"}[reduce]

    def oracle(matrix: Matrix) -> object:
        n = len(matrix)
        places = [(r, c) for r in range(n) for c in range(n)]
        chosen = {
            "diagonal": [p for p in places if p[0] == p[1]], "other": [p for p in places if sum(p) == n - 1],
            "above": [p for p in places if p[1] >= p[0]], "below": [p for p in places if p[1] <= p[0]],
            "even": [p for p in places if sum(p) % 2 == 0], "corners": [(0, 0), (0, n - 1), (n - 1, 0), (n - 1, n - 1)],
        }[which]  # fmt: skip
        numbers = [matrix[r][c] for r, c in chosen]
        return {"sum": sum(numbers), "max": max(numbers), "min": min(numbers), "sorted": sorted(numbers)}[reduce]

    return Draft(
        "reduce_cells(matrix)",
        f"takes a square matrix as a list of rows and returns the {word} of the numbers {told}.",
        "look at some numbers of a matrix",
        f'''\
def reduce_cells(matrix: list[list[int]]) -> {"list[int]" if reduce == "sorted" else "int"}:
    """Return the {word} of the numbers {told}."""
    size = len(matrix)
    cells = [{cells}]
    return {reduce}(cells)
''',
        ("size = len(matrix)\n", "size = len(matrix) - (len(matrix) > 1)\n"),
        [
            *_SQUARES,
            ([[3, 1], [99, -50]],),
            ([[1, 4, 77], [2, 0, -9], [-80, 6, 5]],),
            ([[0, 0, -70], [0, 0, 0], [90, 0, 60]],),
        ],
        oracle,
    )


def _neighbours(shape: str, reduce: str) -> Draft:
    steps, told = {
        "plus": ("[(0, 1), (1, 0), (0, -1), (-1, 0)]", "beside, above and below it"),
        "corner": ("[(1, 1), (1, -1), (-1, 1), (-1, -1)]", "diagonally next to it"),
        "ahead": ("[(0, 1), (0, 2)]", "up to two places to its right"),
        "down": ("[(1, 0), (2, 0)]", "up to two places below it"),
    }[shape]
    word = {"sum": "sum", "len": "number", "max": "largest"}[reduce]
    empty = " or [0]" if reduce == "max" else ""

    def oracle(matrix: Matrix) -> Matrix:
        def near(r: int, c: int, i: int, j: int) -> bool:
            return {
                "plus": abs(r - i) + abs(c - j) == 1, "corner": abs(r - i) == 1 == abs(c - j),
                "ahead": r == i and 0 < j - c < 3, "down": c == j and 0 < i - r < 3,
            }[shape]  # fmt: skip

        cells = [(i, j, cell) for i, row in enumerate(matrix) for j, cell in enumerate(row)]
        lists = [
            [[cell for i, j, cell in cells if near(r, c, i, j)] for c in range(len(row))]
            for r, row in enumerate(matrix)
        ]
        return [[{"sum": sum(m), "len": len(m), "max": max(m, default=0)}[reduce] for m in row] for row in lists]

    return Draft(
        "neighbours(matrix)",
        f"returns a matrix of the same size that has, in place of each number, the {word} of the numbers {told}"
        f"{' (0 if there is none)' if reduce == 'max' else ''}.",
        "look at what lies round each number",
        f'''\
STEPS = {steps}


def neighbours(matrix: list[list[int]]) -> list[list[int]]:
    """Return the {word} of the numbers {told}, for each."""
    cells = dict()
    for row, line in enumerate(matrix):
        for column, cell in enumerate(line):
            cells[row, column] = cell
    result = [[0] * len(line) for line in matrix]
    for row, column in cells:
        places = [(row + down, column + right) for down, right in STEPS]
        around = [cells[place] for place in places if place in cells]
        result[row][column] = {reduce}(around{empty})
    return result
''',
        ("(row + down, column + right)", "(row + down, column - right)")
        if shape == "ahead"
        else ("(row + down, column", "(row + down + 1, column"),
        [*_SQUARES, ([[1, 2, 3, 4]],)],
        oracle,
    )


def _scale(factor: int, modulus: int) -> Draft:
    def oracle(matrix: Matrix) -> Matrix:
        return [[divmod(sum([cell] * factor), modulus)[1] for cell in row] for row in matrix]

    return Draft(
        "scale(matrix)",
        f"multiplies every number of a matrix by {factor} and returns the remainders on division by {modulus} as a new"
        " matrix; the given one stays as it is.",
        "scale a matrix",
        f'''\
from copy import deepcopy


def scale(matrix: list[list[int]]) -> list[list[int]]:
    """Multiply by {factor}, modulo {modulus}."""
    scaled = deepcopy(matrix)
    for row in scaled:
        for column, cell in enumerate(row):
            product = cell * {factor}
            row[column] = product % {modulus}
    return scaled
''',
        (f"cell * {factor}", f"cell * {factor + 1}"),
        [*_SQUARES, ([[11, -4, 20]],)],
        oracle,
    )


FAMILIES = (
    Family(
        "turned-matrices",
        {
            "how": ("transpose", "clockwise", "anticlockwise", "half", "mirror", "upside"),
            "then": ("rows", "first", "sums", "flat"),
        },
        _turn,
    ),
    Family(
        "matrix-cells",
        {
            "which": ("diagonal", "other", "above", "below", "even", "corners"),
            "reduce": ("sum", "max", "min", "sorted"),
        },
        _lines,
    ),
    Family("neighbours", {"shape": ("plus", "corner", "ahead", "down"), "reduce": ("sum", "len", "max")}, _neighbours),
    Family("scaled-matrices", {"factor": (2, 3, 4, 5, 6), "modulus": (7, 10, 11, 13)}, _scale),
)
