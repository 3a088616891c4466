"""The openai SDK by itself, on aiohttp: no journal, nothing of ours; the yardstick of calls a second."""

import asyncio
import json
import sys
from pathlib import Path

import openai


async def main(base_url: str, rows: int, in_flight: int, out: Path) -> None:
    async with openai.AsyncOpenAI(
        base_url=base_url, api_key="none", max_retries=3, http_client=openai.DefaultAioHttpClient()
    ) as client:
        gate = asyncio.Semaphore(in_flight)

        async def one(row: int) -> tuple[int, str]:
            async with gate:
                reply = await client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": f"Row {row}: say something."}], max_tokens=256
                )
            return row, reply.choices[0].message.content or ""

        found = await asyncio.gather(*map(one, range(rows)), return_exceptions=True)
    good = [each for each in found if isinstance(each, tuple)]
    out.joinpath("answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in good))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
