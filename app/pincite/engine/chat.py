"""Messages to the tokens of a prompt, by the chat template in the model's file.

The template's own marks become the model's control tokens; the contents of the messages never do. A document that
contains `<|im_end|>` therefore cannot end its message and speak as somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from jinja2 import TemplateError
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from pincite.errors import ModelError

# Stands for the content of a message while the template is filled in. From a private-use area, so that neither a
# template nor its trimming touches it.
PLACE = "\ue000{}\ue001"
PLACES = re.compile("\ue000(\\d+)\ue001")

ChatMessage = dict[str, str]
Tokenize = Callable[[str, bool], list[int]]  # (text, whether control tokens may come of it)


class ChatTemplate:
    """How one model wants a conversation written. `file` is named in errors."""

    def __init__(self, file: str, template: str, bos: str, eos: str) -> None:
        self._file = file
        try:
            self._formatter = Jinja2ChatFormatter(template=template, eos_token=eos, bos_token=bos)
        except TemplateError as error:
            raise ModelError(f"The chat template in {file} cannot be used: {error}.") from error

    def tokens(self, messages: Sequence[ChatMessage], tokenize: Tokenize) -> list[int]:
        """The prompt that makes the model answer `messages`."""
        contents = [message["content"].strip() for message in messages]
        try:
            rendered = self._rendered([message["role"] for message in messages])
        except (TemplateError, ValueError):
            # Some templates refuse a system message; its content then opens the first message of the user.
            rendered, contents = self._without_system(messages)
        return self._joined(rendered, contents, tokenize)

    def _without_system(self, messages: Sequence[ChatMessage]) -> tuple[str, list[str]]:
        system = "\n\n".join(message["content"].strip() for message in messages if message["role"] == "system")
        others = [message for message in messages if message["role"] != "system"]
        contents = [message["content"].strip() for message in others]
        contents[:1] = [f"{system}\n\n{contents[0]}"] if contents else [system]
        try:
            return self._rendered([message["role"] for message in others] or ["user"]), contents
        except (TemplateError, ValueError) as error:
            raise ModelError(f"The chat template in {self._file} cannot be used: {error}.") from error

    def _rendered(self, roles: Sequence[str]) -> str:
        marked = [{"role": role, "content": PLACE.format(place)} for place, role in enumerate(roles)]
        # enable_thinking: models that think aloud first would spend the answer's tokens on it.
        response = self._formatter(messages=marked, enable_thinking=False)
        return str(response.prompt)

    def _joined(self, rendered: str, contents: Sequence[str], tokenize: Tokenize) -> list[int]:
        pieces = PLACES.split(rendered)  # text of the template, place, text of the template, place, …, text
        if [int(place) for place in pieces[1::2]] != list(range(len(contents))):
            raise ModelError(
                f"The chat template in {self._file} leaves out or repeats a message, so it cannot be used."
            )
        tokens: list[int] = []
        for index, piece in enumerate(pieces):
            if index % 2:
                tokens += tokenize(contents[int(piece)], False)
            elif piece:
                tokens += tokenize(piece, True)
        return tokens
