"""What a word is: for the diversity metrics, and for the filter that drops short records."""

from collections import Counter

import regex

# Default word boundaries of Unicode (UAX 29). Numbers and "don't" stay whole, Hangul and Katakana runs are words; an
# ideograph, a Hiragana letter and, for want of a dictionary, a Thai, Lao, Khmer or Burmese letter stand alone.
_BOUNDARY = regex.compile(r"(?w)\b", regex.VERSION1)
_SPOKEN = regex.compile(r"[\p{L}\p{N}]")  # neither space nor punctuation nor emoji

# A lone U+30FC only lengthens the Hiragana before it.
_UNSPACED = regex.compile(
    r"(?<han>\p{Han})|(?<hiragana>[\p{Hiragana}ー])|(?<thai>\p{Thai})|(?<lao>\p{Lao})|(?<khmer>\p{Khmer})"
    r"|(?<myanmar>\p{Myanmar})"
)

# Letters (as `words` cuts them) that say what ten English words say, counted in the Universal Declaration of Human
# Rights, 1,753 words in English. docs/diversity.md shows the counts.
LETTERS_PER_TEN_WORDS = {"han": 15, "hiragana": 30, "thai": 40, "lao": 42, "khmer": 35, "myanmar": 35}


def words(text: str) -> list[str]:
    """Cut ``text`` into words by UAX 29, in order and as written; scripts without spaces are cut into letters."""
    pieces = _BOUNDARY.split(text)
    # Most pieces show with their first character what they are; to ask the engine about each takes twice as long.
    return [piece for piece in pieces if piece[:1].isalnum() or (not piece.isspace() and _SPOKEN.search(piece))]


def count_words(text: str) -> int:
    """How long ``text`` is, in words of a language written with spaces.

    Letters of scripts written without spaces count by ``LETTERS_PER_TEN_WORDS``, each script rounded up, so that one
    limit means about the same amount of text in every language.
    """
    pieces = words(text)
    letters = Counter(match.lastgroup for match in map(_UNSPACED.match, pieces) if match)
    spaced = len(pieces) - letters.total()
    return spaced + sum(-(-10 * letters[script] // per_ten) for script, per_ten in LETTERS_PER_TEN_WORDS.items())
