"""Small stocks of sentences and names in five languages beside English, all our own."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

_ES_MONTHS = (
    "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
    "noviembre", "diciembre",
)  # fmt: skip
_FR_MONTHS = (
    "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre",
    "décembre",
)  # fmt: skip
_DE_MONTHS = (
    "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
    "Dezember",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Language:
    """What a text in one language is made from.

    Attributes:
        given, family: parts of a name; ``name`` says how they stand together.
        sentences: each with places for person, place, date, amount, number, clock, email and phone.
        between: what stands between two sentences.
        amount: how a sum of money is written, from its digits.
    """

    given: tuple[str, ...]
    family: tuple[str, ...]
    places: tuple[str, ...]
    sentences: tuple[str, ...]
    greeting: str
    closing: str
    grounded: str
    name: str = "{given} {family}"
    between: str = " "
    amount: str = "{digits} €"
    written_date: Callable[[date], str] = date.isoformat


KOREAN = Language(
    given=(
        "민준",
        "서연",
        "지호",
        "하윤",
        "도현",
        "수아",
        "예준",
        "지우",
        "은서",
        "현우",
        "나은",
        "태윤",
        "소율",
        "준서",
    ),
    family=("김", "이", "박", "최", "정", "강", "조", "윤", "장", "임", "한", "오", "서", "신", "권", "황"),
    places=(
        "서울",
        "부산",
        "대구",
        "인천",
        "광주",
        "대전",
        "울산",
        "수원",
        "전주",
        "청주",
        "강릉",
        "여수",
        "춘천",
        "포항",
    ),
    sentences=(
        "저는 {date}에 {place}에서 {person} 씨를 처음 만나 계약 조건을 자세히 들었습니다.",
        "접수 번호는 {number}이며 담당자는 {person} 과장으로 기록되어 있습니다.",
        "그날 오전 {clock}에 병원에 도착했지만 진료는 한 시간 넘게 늦어졌습니다.",
        "청구된 금액은 모두 {amount}이고 그 가운데 절반은 이미 계좌로 이체했습니다.",
        "문의할 일이 있으시면 {phone}으로 전화해 주시거나 {email}로 편지를 보내 주십시오.",
        "어머니는 {place}에 혼자 살고 계시며 최근에 무릎 수술을 받으셨습니다.",
        "회사에서는 {date}까지 서류를 제출하라고 했으나 필요한 증명서가 아직 나오지 않았습니다.",
        "{person} 선생님은 아이가 수업 시간에 조용하지만 질문을 자주 한다고 말씀하셨습니다.",
        "집주인은 보증금 {amount}을 돌려주겠다고 약속했지만 지금까지 연락이 없습니다.",
        "사고가 난 곳은 {place} 역 앞 교차로였고 목격자는 두 명이었습니다.",
        "의사는 약의 양을 조금 줄이고 {date}에 다시 검사를 받으라고 권했습니다.",
        "지난주에 보낸 신청서에는 생년월일이 잘못 적혀 있어서 새로 작성했습니다.",
        "저희 부부는 결혼한 지 십이 년이 되었고 두 아이를 키우고 있습니다.",
        "보험 회사는 증권 번호 {number}의 보장 범위에 이 치료가 들어가지 않는다고 답했습니다.",
        "{person} 씨와 나눈 대화는 제가 직접 적어 두었으니 필요하면 보여 드리겠습니다.",
        "매달 나가는 월세와 대출 이자를 빼면 생활비로 {amount} 정도가 남습니다.",
        "출장 중에 잃어버린 가방은 짙은 녹색이고 이름표에 {person}이라고 쓰여 있습니다.",
        "학교 측은 장학금 심사 결과를 {date} 이후에 알려 주겠다고 했습니다.",
        "이 문제로 밤에 잠을 잘 이루지 못하고 있으니 빠른 답변을 부탁드립니다.",
        "동생은 {place}에서 작은 식당을 운영하며 새벽마다 시장에 나갑니다.",
        "계약서 사본과 영수증은 봉투에 함께 넣어 등기 우편으로 부쳤습니다.",
        "회의는 오후 {clock}에 끝났고 다음 일정은 아직 정해지지 않았습니다.",
        "예전 주소로 보낸 통지서가 반송되었다는 사실을 저는 나중에야 알았습니다.",
        "끝으로 이 일을 도와주신 {person} 씨에게 진심으로 감사드립니다.",
    ),
    greeting="{person} 님께",
    closing="감사합니다.\n{person} 드림",
    grounded="참고로 {key}: {value} 라고 기록되어 있습니다.",
    name="{family}{given}",
    amount="{digits}원",
    written_date=lambda day: f"{day.year}년 {day.month}월 {day.day}일",
)

CHINESE = Language(
    given=(
        "伟明",
        "芳华",
        "静怡",
        "志强",
        "丽娜",
        "建国",
        "雨桐",
        "思远",
        "晓梅",
        "浩然",
        "佳慧",
        "文博",
        "春燕",
        "子轩",
    ),
    family=("王", "李", "张", "刘", "陈", "杨", "赵", "黄", "周", "吴", "徐", "孙", "胡", "朱", "高", "林"),
    places=(
        "北京",
        "上海",
        "广州",
        "成都",
        "武汉",
        "南京",
        "西安",
        "杭州",
        "青岛",
        "长沙",
        "昆明",
        "厦门",
        "苏州",
        "郑州",
    ),
    sentences=(
        "我于{date}在{place}第一次见到{person}，当时他向我详细说明了合同的各项条件。",
        "这份申请的受理编号是{number}，负责人登记为{person}。",
        "那天上午{clock}我到达医院，可是挂号以后又等了一个多小时。",
        "账单总额为{amount}，其中一半已经通过银行转账付清。",
        "如有疑问，请拨打{phone}，或者写信到{email}与我联系。",
        "我的母亲独自住在{place}，去年秋天做过一次膝关节手术。",
        "公司要求在{date}之前交齐材料，但是有一份证明至今没有开出来。",
        "班主任{person}说孩子上课安静，不过常常在课后提出很好的问题。",
        "房东答应退还押金{amount}，到现在却一直没有消息。",
        "事故发生在{place}火车站前面的路口，当时有两位行人看见了全过程。",
        "医生建议把药量减少一些，并在{date}再做一次血液检查。",
        "上周寄出的表格里出生日期写错了，所以我重新填写了一份。",
        "我们夫妻结婚十二年，一起抚养两个孩子，还要照顾年老的父亲。",
        "保险公司回复说，保单{number}的范围不包括这种治疗。",
        "我与{person}的谈话都有笔记，需要的时候可以随时提供。",
        "除去房租和贷款利息，每个月大约剩下{amount}作为生活费用。",
        "出差途中丢失的箱子是深绿色的，标签上写着{person}的名字。",
        "学校表示奖学金的评审结果要到{date}以后才能公布。",
        "这件事让我很多个晚上睡不着觉，希望能够尽快得到答复。",
        "弟弟在{place}开了一家小饭馆，每天天不亮就去市场买菜。",
        "合同复印件和收据一起装在信封里，已经用挂号信寄出。",
        "会议在下午{clock}结束，下一次的时间还没有确定下来。",
        "后来我才知道，寄到旧地址的通知早就被退了回去。",
        "最后，我要特别感谢{person}在整个过程中给予的帮助。",
    ),
    greeting="尊敬的{person}：",
    closing="此致\n敬礼\n{person}",
    grounded="另外说明，{key}：{value}。",
    name="{family}{given}",
    between="",
    amount="{digits}元",
    written_date=lambda day: f"{day.year}年{day.month}月{day.day}日",
)

GERMAN = Language(
    given=("Anneliese", "Bernd", "Cornelia", "Dietmar", "Friederike", "Gerhard", "Heike", "Jochen", "Katrin", "Lothar"),
    family=("Albrecht", "Brandner", "Dörfler", "Eichholz", "Färber", "Grünwald", "Hohmann", "Kessler", "Lindemann"),
    places=("Kassel", "Bremen", "Erfurt", "Freiburg", "Göttingen", "Koblenz", "Lübeck", "Passau", "Rostock", "Ulm"),
    sentences=(
        "Am {date} habe ich in {place} mit {person} gesprochen und die Bedingungen des Vertrags erklärt bekommen.",
        "Mein Antrag trägt die Nummer {number} und liegt seit Wochen bei {person} auf dem Schreibtisch.",
        "Um {clock} Uhr war ich in der Praxis, musste aber noch über eine Stunde warten.",
        "Die Rechnung beläuft sich auf {amount}, wovon die Hälfte bereits überwiesen ist.",
        "Für Rückfragen erreichen Sie mich unter {phone} oder schriftlich an {email}.",
        "Meine Mutter wohnt allein in {place} und wurde vor kurzem am Knie operiert.",
        "Der Arbeitgeber verlangt die Unterlagen bis zum {date}, doch eine Bescheinigung fehlt noch immer.",
        "Die Klassenlehrerin {person} meint, das Kind sei still, stelle aber kluge Fragen.",
        "Der Vermieter hat die Kaution von {amount} versprochen und sich danach nicht mehr gemeldet.",
        "Der Unfall geschah an der Kreuzung vor dem Bahnhof in {place}, zwei Passanten haben ihn gesehen.",
        "Die Ärztin will die Dosis verringern und am {date} das Blut noch einmal untersuchen lassen.",
        "In dem Formular der letzten Woche stand ein falsches Geburtsdatum, deshalb liegt ein neues bei.",
        "Wir sind seit zwölf Jahren verheiratet und ziehen zwei Kinder groß.",
        "Laut Versicherung deckt die Police {number} diese Behandlung nicht ab.",
        "Über das Gespräch mit {person} habe ich mir Notizen gemacht, die ich gern vorlege.",
        "Nach Miete und Kreditrate bleiben uns im Monat etwa {amount} zum Leben.",
        "Der verlorene Koffer ist dunkelgrün und trägt ein Schild mit dem Namen {person}.",
        "Über das Stipendium entscheidet die Hochschule frühestens nach dem {date}.",
        "Die Sache raubt mir den Schlaf, darum bitte ich um eine rasche Antwort.",
        "Mein Bruder führt in {place} ein kleines Gasthaus und steht jeden Morgen vor fünf auf.",
        "Kopien des Vertrags und der Quittungen habe ich als Einschreiben geschickt.",
        "Die Sitzung endete um {clock} Uhr, ein neuer Termin wurde nicht vereinbart.",
        "Erst später erfuhr ich, dass der Bescheid an die alte Anschrift zurückgekommen war.",
        "Zum Schluss danke ich {person} herzlich für die Hilfe in all diesen Monaten.",
    ),
    greeting="Sehr geehrte Damen und Herren,",
    closing="Mit freundlichen Grüßen\n{person}",
    grounded="Zur Akte gehört auch {key}: {value}.",
    written_date=lambda day: f"{day.day}. {_DE_MONTHS[day.month - 1]} {day.year}",
)

SPANISH = Language(
    given=("Alejandra", "Bruno", "Consuelo", "Damián", "Estela", "Fermín", "Graciela", "Hernán", "Inés", "Joaquín"),
    family=("Aguirre", "Benavides", "Carrasco", "Domínguez", "Escudero", "Fuentes", "Galindo", "Herrero", "Ibáñez"),
    places=("Zaragoza", "Cádiz", "Oviedo", "Murcia", "Salamanca", "Burgos", "Almería", "Logroño", "Huelva", "Lugo"),
    sentences=(
        "El {date} hablé en {place} con {person}, quien me explicó las condiciones del contrato.",
        "Mi solicitud lleva el número {number} y sigue sobre la mesa de {person}.",
        "A las {clock} ya estaba en la consulta, pero tuve que esperar más de una hora.",
        "La factura suma {amount}, y la mitad está pagada por transferencia.",
        "Si tiene preguntas, puede llamarme al {phone} o escribirme a {email}.",
        "Mi madre vive sola en {place} y hace poco la operaron de la rodilla.",
        "La empresa pide los papeles antes del {date}, aunque todavía falta un certificado.",
        "La tutora, {person}, dice que el niño es callado pero hace buenas preguntas.",
        "El casero prometió devolver la fianza de {amount} y no ha vuelto a llamar.",
        "El accidente ocurrió en el cruce de la estación de {place}, delante de dos testigos.",
        "El médico quiere bajar la dosis y repetir el análisis de sangre el {date}.",
        "En el formulario de la semana pasada la fecha de nacimiento estaba mal, por eso envío otro.",
        "Llevamos doce años casados y criamos a dos hijos.",
        "La aseguradora contesta que la póliza {number} no cubre este tratamiento.",
        "Tomé notas de la conversación con {person} y puedo enseñarlas cuando haga falta.",
        "Después del alquiler y del préstamo nos quedan unos {amount} al mes para vivir.",
        "La maleta perdida es verde oscuro y lleva una etiqueta con el nombre de {person}.",
        "La universidad no decidirá sobre la beca hasta después del {date}.",
        "Este asunto me quita el sueño, así que le ruego una respuesta rápida.",
        "Mi hermano tiene una pequeña taberna en {place} y se levanta antes de las cinco.",
        "Mandé por correo certificado las copias del contrato y de los recibos.",
        "La reunión terminó a las {clock} sin que se fijara otra fecha.",
        "Solo más tarde supe que el aviso había vuelto de la dirección antigua.",
        "Por último, doy las gracias a {person} por su ayuda durante todos estos meses.",
    ),
    greeting="Estimada señora, estimado señor:",
    closing="Un cordial saludo,\n{person}",
    grounded="Para que conste, {key}: {value}.",
    name="{given} {family}",
    written_date=lambda day: f"{day.day} de {_ES_MONTHS[day.month - 1]} de {day.year}",
)

FRENCH = Language(
    given=(
        "Aurélie",
        "Baptiste",
        "Clémence",
        "Didier",
        "Élodie",
        "Fabrice",
        "Geneviève",
        "Hugues",
        "Isabelle",
        "Julien",
    ),
    family=(
        "Aubert",
        "Bonnard",
        "Chevalier",
        "Delorme",
        "Faucher",
        "Garnier",
        "Jourdan",
        "Lacroix",
        "Marchand",
        "Perrin",
    ),
    places=("Rennes", "Dijon", "Amiens", "Limoges", "Besançon", "Nîmes", "Angers", "Metz", "Poitiers", "Grenoble"),
    sentences=(
        "Le {date}, à {place}, j'ai rencontré {person}, qui m'a expliqué les conditions du contrat.",
        "Ma demande porte le numéro {number} et reste depuis des semaines sur le bureau de {person}.",
        "À {clock}, j'étais déjà au cabinet, mais il a fallu attendre plus d'une heure.",
        "La facture s'élève à {amount}, dont la moitié a été réglée par virement.",
        "Pour toute question, vous pouvez m'appeler au {phone} ou m'écrire à {email}.",
        "Ma mère vit seule à {place} et vient d'être opérée du genou.",
        "L'employeur réclame le dossier avant le {date}, alors qu'une attestation manque encore.",
        "La maîtresse, {person}, trouve l'enfant discret mais curieux de tout.",
        "Le propriétaire a promis de rendre la caution de {amount} et ne répond plus.",
        "L'accident s'est produit au carrefour de la gare de {place}, devant deux passants.",
        "Le médecin souhaite réduire la dose et refaire une prise de sang le {date}.",
        "La date de naissance était fausse dans le formulaire de la semaine dernière, en voici un nouveau.",
        "Nous sommes mariés depuis douze ans et nous élevons deux enfants.",
        "Selon l'assurance, le contrat {number} ne couvre pas ce traitement.",
        "J'ai pris des notes pendant l'entretien avec {person} et je les tiens à votre disposition.",
        "Après le loyer et le crédit, il nous reste environ {amount} par mois pour vivre.",
        "La valise perdue est vert foncé et porte une étiquette au nom de {person}.",
        "L'université ne se prononcera sur la bourse qu'après le {date}.",
        "Cette affaire m'empêche de dormir, je vous prie donc de répondre rapidement.",
        "Mon frère tient une petite auberge à {place} et se lève avant cinq heures.",
        "Les copies du contrat et des reçus sont parties en recommandé.",
        "La réunion a pris fin à {clock} sans qu'une autre date soit fixée.",
        "J'ai appris plus tard que l'avis était revenu de mon ancienne adresse.",
        "Enfin, je remercie {person} de son aide pendant tous ces mois.",
    ),
    greeting="Madame, Monsieur,",
    closing="Veuillez agréer mes salutations distinguées.\n{person}",
    grounded="Pour le dossier, {key} : {value}.",
    written_date=lambda day: f"{day.day} {_FR_MONTHS[day.month - 1]} {day.year}",
)

STOCKS: dict[str, Language] = {
    "Korean": KOREAN,
    "Chinese": CHINESE,
    "German": GERMAN,
    "Spanish": SPANISH,
    "French": FRENCH,
}
