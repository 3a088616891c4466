import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.diversity.words import count_words, words

# Article 1 of the Universal Declaration of Human Rights: the same content in each language, 30 words in English.
ARTICLE_1 = {
    "English": (
        "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience"
        " and should act towards one another in a spirit of brotherhood."
    ),
    "Chinese": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
    "Japanese": (
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
        "人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。"
    ),
    "Thai": (
        "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ"
    ),
    "Lao": (
        "ມະນຸດເກີດມາມີສິດເສລີພາບ ແລະ ສະເໝີໜ້າກັນໃນທາງກຽດຕິສັກ ແລະ "
        "ທາງສິດດ້ວຍມະນຸດມີສະຕິສຳປັດຊັນຍະ(ຮູ້ດີຮູ້ຊົ່ວ)ແລະມີມະໂນທຳຈື່ງຕ້ອງປະພຶດຕົນຕໍ່ກັນໃນທາງພີ່ນ້ອງ."
    ),
    "Khmer": (
        "មនុស្សទាំងអស់ កើតមកមានសេរីភាព និងសមភាព ក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ។ មនុស្ស "
        "មានវិចារណញ្ញាណនិងសតិសម្បជញ្ញៈជាប់ពីកំណើត "
        "ហើយគប្បីប្រព្រឹត្ដចំពោះគ្នាទៅវិញទៅមកក្នុងស្មារតីភាតរភាពជាបងប្អូន។"
    ),
    "Burmese": (
        "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ တူညီလွတ်လပ်သော အခွင့်အရေးများဖြင့် "
        "လည်းကောင်း၊ မွေးဖွားလာသူများ ဖြစ်သည်။ ထိုသူတို့၌ ပိုင်းခြား ဝေဖန်တတ်သော ဉာဏ်နှင့် ကျင့်ဝတ် သိတတ်သော "
        "စိတ်တို့ရှိကြ၍ ထိုသူတို့သည် အချင်းချင်း မေတ္တာထား၍ ဆက်ဆံကျင့်သုံးသင့်၏။"
    ),
}


@pytest.mark.parametrize("language", ARTICLE_1)
def test_the_same_content_counts_about_the_same_in_every_script(language: str) -> None:
    assert 0.7 * 30 <= count_words(ARTICLE_1[language]) <= 1.3 * 30


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop-me now: 3.14, l’été!", ["Don't", "stop", "me", "now", "3.14", "l’été"]),
        ("  — … 😀 $ \n\t", []),
        ("", []),
        ("naïve nai\u0308ve", ["naïve", "nai\u0308ve"]),
        ("हिन्दी में लिखा", ["हिन्दी", "में", "लिखा"]),
        ("안녕하세요 저는 민수입니다.", ["안녕하세요", "저는", "민수입니다"]),
        ("2024年我很好。", ["2024", "年", "我", "很", "好"]),
        ("コンピューターを買う", ["コンピューター", "を", "買", "う"]),
        ("ชื่อ", ["ชื่", "อ"]),
    ],
)
def test_words_end_at_unicode_word_boundaries(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("three plain words", 3),
        ("안녕하세요 저는 민수입니다", 3),
        ("信" * 300, 200),
        ("信", 1),
        ("信" * 3 + "。" * 9, 2),
        ("𠀀" * 15, 10),  # beyond the basic plane
        ("の" * 6, 2),
        ("らーめん" * 3, 4),  # the long vowel mark is a letter of its word
        ("コンピューター", 1),
        ("ก" * 8, 2),
        ("ກ" * 42, 10),
        ("ក" * 7, 2),
        ("က" * 7, 2),
        ("Dear 王先生, hello", 2 + 2),
        ("信のก", 1 + 1 + 1),
        ("…", 0),
    ],
)
def test_letters_of_scripts_without_spaces_count_by_their_ratio(text: str, expected: int) -> None:
    assert count_words(text) == expected


@given(st.text(st.characters(exclude_categories=["Cs", "Cn"])))
@settings(max_examples=50, deadline=None)
def test_every_letter_and_number_is_in_a_word_and_no_word_is_without(text: str) -> None:
    pieces = words(text)
    assert [char for char in text if _is_spoken(char)] == [char for char in "".join(pieces) if _is_spoken(char)]
    assert all(any(map(_is_spoken, piece)) for piece in pieces)


def _is_spoken(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN"
