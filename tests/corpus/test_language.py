"""The hint that a text is not English."""

from __future__ import annotations

import pytest

from tracert.corpus.language import is_english

ENGLISH = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, "
    "must be in want of a wife. However little known the feelings of such a man may be, this "
    "truth is well fixed in the minds of the families around."
)
TECHNICAL = (
    "Install the package with pip. The command prints the version number and exits. If the port "
    "is already in use, choose another with the option --port and restart the server."
)
OTHERS = {
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit "
    "Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
    "French": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont "
    "doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit "
    "de fraternité.",
    "Spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados "
    "como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros.",
    "Italian": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono "
    "dotati di ragione e di coscienza e devono agire gli uni verso gli altri.",
    "Dutch": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn "
    "begiftigd met verstand en geweten, en behoren zich jegens elkander in een geest van "
    "broederschap te gedragen.",
    "Danish": "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med "
    "fornuft og samvittighed, og de bør handle mod hverandre i en broderskabets ånd.",
    "Norwegian": "Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter. "
    "De er utstyrt med fornuft og samvittighet og bør handle mot hverandre i brorskapets ånd.",
    "Swedish": "Alla människor är födda fria och lika i värde och rättigheter. De är utrustade "
    "med förnuft och samvete och bör handla gentemot varandra i en anda av broderskap.",
    "Portuguese": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. "
    "Dotados de razão e de consciência, devem agir uns para com os outros em espírito de "
    "fraternidade.",
    "Polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są "
    "oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.",
    "Turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana "
    "sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler. Herkes bu "
    "haklardan yararlanabilir.",
    "Finnish": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. "
    "Heille on annettu järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden "
    "hengessä. Jokainen on oikeutettu kaikkiin oikeuksiin.",
    "Latin": "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, aliam Aquitani, "
    "tertiam qui ipsorum lingua Celtae, nostra Galli appellantur. Hi omnes lingua, institutis, "
    "legibus inter se differunt.",
    "Russian": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια.",
    "Arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.",
    "Chinese": "人人生而自由,在尊严和权利上一律平等。",
    "Japanese": "すべての人間は、生まれながらにして自由である。",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
}


@pytest.mark.parametrize("text", [ENGLISH, TECHNICAL])
def test_english(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages(language: str) -> None:
    assert not is_english(OTHERS[language])


@pytest.mark.parametrize(
    "text",
    ["", "   ", "3.14, 2.71", "Bonjour tout le monde", "x = f(y)\nreturn x"],
    ids=["empty", "blank", "numbers", "few words", "code"],
)
def test_doubt_counts_as_english(text: str) -> None:
    assert is_english(text)


def test_letters_of_another_script_decide_even_among_few_words() -> None:
    # 20 Chinese signs and 6 Latin letters.
    assert not is_english("人人生而自由 Python 在尊严和权利上一律平等人人生而")


def test_what_prevails_decides() -> None:
    german = OTHERS["German"]
    assert is_english(ENGLISH * 4 + german)
    assert not is_english(ENGLISH + german * 40)


def test_a_foreign_preface_does_not_decide() -> None:
    # The slices from the middle and the end outweigh one from the beginning.
    assert is_english(OTHERS["Latin"] * 40 + ENGLISH * 200)


@pytest.mark.shared
def test_books_are_english(shared) -> None:
    for book in sorted((shared / "data" / "books").glob("*.txt")):
        assert is_english(book.read_text(encoding="utf-8"))
