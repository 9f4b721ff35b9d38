"""The language model, run by llama.cpp. Child process only."""

from __future__ import annotations

import codecs
import ctypes
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import llama_cpp
import numpy as np

from pincite.engine.chat import ChatMessage, ChatTemplate
from pincite.engine.gguf import check_gguf
from pincite.engine.grammar import Picker
from pincite.engine.protocol import GenerationStats
from pincite.errors import BugError, Cancelled, EngineError, ModelError, UsageError

CONTEXT_TOKENS = 4096
# A prompt is read in slices, between which questions of others are served: as fast as larger ones, and under a second
# on two cores with a model of 1.5 billion parameters.
SLICE_TOKENS = 64
GPU_SLICE_TOKENS = 512
PIECE_BYTES = 512  # no token of any known vocabulary is longer
ABORTED = "llama_decode returned 2"  # how llama-cpp-python reports that the abort callback said yes

# A text that ends in the same run of tokens at least this many times, over at least so many tokens, goes in circles.
REPEATS = 3
REPEAT_TOKENS = 24
LONGEST_RUN_TOKENS = 80


class LanguageModel:
    """One GGUF model, loaded. Its context keeps the last prompt, so a prompt that begins the same is read faster."""

    def __init__(self, file: Path, threads: int, gpu_layers: int) -> None:
        check_gguf(file)
        self._file = file
        self._slice_tokens = GPU_SLICE_TOKENS if llama_cpp.llama_supports_gpu_offload() else SLICE_TOKENS
        self._aborted: Callable[[], bool] = bool
        try:
            self._llama = llama_cpp.Llama(
                str(file),
                n_ctx=CONTEXT_TOKENS,
                n_batch=self._slice_tokens,
                n_ubatch=self._slice_tokens,
                n_threads=threads,
                n_threads_batch=threads,
                n_gpu_layers=gpu_layers,
                verbose=False,
            )
        except (ValueError, RuntimeError, AssertionError) as error:
            raise ModelError(
                f"llama.cpp cannot load {file}: the file is damaged, needs more memory than there is, or is of a kind "
                "that this version does not know."
            ) from error
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._llama.model)
        self._context_tokens = min(self._llama.n_ctx(), llama_cpp.llama_model_n_ctx_train(self._llama.model))
        self._template = self._chat_template()
        # Kept as an attribute: llama.cpp calls it for as long as the context lives.
        self._abort_callback = llama_cpp.ggml_abort_callback(lambda _: self._aborted())
        llama_cpp.llama_set_abort_callback(self._llama.ctx, self._abort_callback, None)

    def close(self) -> None:
        """Free the model's memory."""
        self._llama.close()

    def count(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has."""
        return [len(self._tokenize(text, False)) for text in texts]

    def write(
        self,
        messages: Sequence[ChatMessage],
        grammar: str,
        max_tokens: int,
        aborted: Callable[[], bool],
    ) -> Generator[str, None, GenerationStats]:
        """Yield an answer piece by piece, and "" after each slice of the prompt, as often as something was done.

        `aborted` is asked during each step too, from inside llama.cpp; when it says yes, Cancelled is raised.
        """
        prompt = self._prompt(messages, max_tokens)
        picker = Picker(self._vocabulary, grammar)
        self._aborted = aborted
        try:
            return (yield from self._written(prompt, picker, max_tokens))
        finally:
            self._aborted = bool
            picker.close()

    def _written(self, prompt: list[int], picker: Picker, max_tokens: int) -> Generator[str, None, GenerationStats]:
        began = time.perf_counter()
        reused = self._rewind_to(prompt)
        for start in range(reused, len(prompt), self._slice_tokens):
            self._evaluate(prompt[start : start + self._slice_tokens])
            yield ""
        read = time.perf_counter()
        answer: list[int] = []
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        stopped = "length"
        while len(answer) < max_tokens:
            token = picker.pick(self._logits())
            if llama_cpp.llama_vocab_is_eog(self._vocabulary, token):
                stopped = "end"
                break
            picker.accept(token)
            answer.append(token)
            yield decoder.decode(self._piece(token))
            if runs_in_circles(answer):
                stopped = "repeat"
                break
            if len(answer) < max_tokens:
                self._evaluate([token])
        yield decoder.decode(b"", final=True)
        written = time.perf_counter()
        return GenerationStats(
            prompt_tokens=len(prompt),
            reused_tokens=reused,
            answer_tokens=len(answer),
            prompt_ms=(read - began) * 1000,
            answer_ms=(written - read) * 1000,
            stopped=stopped,
        )

    def _prompt(self, messages: Sequence[ChatMessage], max_tokens: int) -> list[int]:
        tokens = self._template.tokens(messages, self._tokenize)
        bos = llama_cpp.llama_vocab_bos(self._vocabulary)
        if llama_cpp.llama_vocab_get_add_bos(self._vocabulary) and tokens[:1] != [bos]:
            tokens.insert(0, bos)
        if not tokens:
            raise BugError("The language model was asked to answer an empty prompt.")
        if len(tokens) + max_tokens > self._context_tokens:
            raise UsageError(
                f"The question is too long for the language model: with its passages it has {len(tokens)} tokens, and "
                f"{self._context_tokens - max_tokens} fit."
            )
        return tokens

    def _rewind_to(self, prompt: list[int]) -> int:
        """Forget what the context holds beyond its common beginning with `prompt`; the length of that beginning.

        The last token is always read again, because it is after it that the first one is chosen.
        """
        known = self._llama.input_ids[: self._llama.n_tokens]
        length = min(len(known), len(prompt) - 1)
        differing = np.flatnonzero(known[:length] != np.array(prompt[:length], dtype=known.dtype))
        common = int(differing[0]) if len(differing) else length
        memory = llama_cpp.llama_get_memory(self._llama.ctx)
        if common and not llama_cpp.llama_memory_seq_rm(memory, 0, common, -1):
            common = 0  # a model whose memory cannot be cut, only cleared
        if common == 0:
            llama_cpp.llama_memory_clear(memory, True)
        self._llama.n_tokens = common
        return common

    def _evaluate(self, tokens: Sequence[int]) -> None:
        try:
            self._llama.eval(tokens)
        except RuntimeError as error:
            if str(error) == ABORTED:
                raise Cancelled("Stopped, as asked.") from error
            raise EngineError(f"The language model could not go on ({error}).") from error

    def _logits(self) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        """The score of every token of the vocabulary to come next."""
        pointer = llama_cpp.llama_get_logits_ith(self._llama.ctx, -1)
        return np.ctypeslib.as_array(pointer, shape=(self._llama.n_vocab(),))

    def _tokenize(self, text: str, control: bool) -> list[int]:
        tokens: list[int] = self._llama.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=control)
        return tokens

    def _piece(self, token: int) -> bytes:
        buffer = ctypes.create_string_buffer(PIECE_BYTES)
        length = llama_cpp.llama_token_to_piece(self._vocabulary, token, buffer, PIECE_BYTES, 0, False)
        return buffer.raw[: max(0, length)]

    def _chat_template(self) -> ChatTemplate:
        template = self._llama.metadata.get("tokenizer.chat_template")
        if not template:
            raise ModelError(f"The model {self._file} has no chat template, so it cannot follow instructions.")
        return ChatTemplate(
            str(self._file),
            template,
            bos=self._text_of(self._llama.token_bos()),
            eos=self._text_of(self._llama.token_eos()),
        )

    def _text_of(self, token: int) -> str:
        text = llama_cpp.llama_vocab_get_text(self._vocabulary, token) if token >= 0 else b""
        return (text or b"").decode("utf-8", "replace")


def runs_in_circles(tokens: Sequence[int]) -> bool:
    """Whether `tokens` ends in one run over and over again."""
    for length in range(1, min(LONGEST_RUN_TOKENS, len(tokens) // REPEATS) + 1):
        repeats = max(REPEATS, -(-REPEAT_TOKENS // length))
        tail = tokens[-length * repeats :]
        if len(tail) == length * repeats and tail[length:] == tail[:-length]:
            return True
    return False
