"""One fixed person to whom one fixed thing happened."""

from datetime import date

from tasks.synthesis.profile import Event, Profile
from tasks.synthesis.record import Plan

ANA = Profile(
    first_name="Ana",
    last_name="Lima",
    sex="woman",
    age=40,
    ethnicity="Portuguese",
    citizenship="Portuguese",
    income_class="middle income",
    blood_type="A+",
    marital_status="married",
    language="Portuguese",
    id_type="Citizen Card number",
    id_number="14473829 0 ZX4",
    passport_number="CA739201",
    phone="+351 912 374 905",
    email="ana.lima@correio.test",
    user_handle="ana_lima_79",
    url="https://correio.test/ana-lima",
)
KNEE = Event(
    name="Knee surgery after a fall",
    domain="Health & Wellness",
    date=date(2019, 5, 3),
    attributes=(
        ("surgery_date", "14 May 2019"),
        ("surgeon_name", "Dr. Rita Lima"),
        ("hospital_name", "Clínica do Mar"),
    ),
)
PLAN = Plan(
    record_type="A letter from Tomas Lima to Ana Lima about the clinic's call",
    context="On Friday the clinic in Porto called her brother. He wrote it down for her that evening.",
    format="It begins with a greeting and ends with a request to call.",
)
