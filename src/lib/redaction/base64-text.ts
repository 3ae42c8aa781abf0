import { isUtf8 } from 'node:buffer'

import { BACKSLASH, byteTable } from '../json/scan/json-bytes.js'

/**
 * The characters of Base64 that each of four in a group may be where all of its three bytes are ASCII, and the first is printable or white space:
 * of their six bits, the first has bit 5 clear, the second bit 3, the third bit 1.
 */
const GROUP = ['CDI-Za-f', 'A-HQ-Xg-nw-z0-3', 'ABEFIJMNQRUVYZcdghklopstwx014589', 'A-Za-z0-9+/_-']
/** As many groups as the shortest text that can hold a secret. */
const GROUPS = 3
const MIN_LENGTH = GROUPS * GROUP.length

/** A run of Base64 that begins with ASCII text, on one line or on lines of 60 characters and more. */
const BASE64_TEXT = new RegExp(
  String.raw`(?<![A-Za-z0-9])(?:${GROUP.map((set) => `[${set}]`).join('')}){${GROUPS}}[\w+/-]*(?:(?<=[\w+/-]{60})\r?\n[ \t]{0,40}[\w+/-]+)*={0,2}`,
  'g',
)
const BINARY = /[^\P{Cc}\t\r\n]/u

/**
 * Replaces what is Base64 of text in `value`. `redact` gets that text, and whether its end may be missing because that of `value` is;
 * it returns what to encode instead, or undefined to leave the run as it is.
 */
export function replaceBase64Text(
  value: string,
  isCut: boolean,
  redact: (text: Buffer, isCut: boolean) => string | undefined,
): string {
  return value.replace(BASE64_TEXT, (run, offset: number) => {
    const isRunCut = isCut && offset + run.length === value.length
    const text = decode(run, isRunCut)
    const redacted = text && redact(text, isRunCut)
    if (redacted === undefined) return run
    return Buffer.from(redacted).toString(/[_-]/.test(run) ? 'base64url' : 'base64')
  })
}

/** The text in a run; undefined where it is none. */
function decode(run: string, isCut: boolean): Buffer | undefined {
  const bytes = Buffer.from(run, 'base64')
  const text = isCut ? withoutHalfCharacter(bytes) : bytes
  return isUtf8(text) && !BINARY.test(text.toString()) ? text : undefined
}

function withoutHalfCharacter(bytes: Buffer): Buffer {
  for (let end = bytes.length; end > 0 && end > bytes.length - 4; end--) {
    if (isUtf8(bytes.subarray(0, end))) return bytes.subarray(0, end)
  }
  return bytes
}

/** For each byte which places of a group it may have, as bits. */
const PLACES = Uint8Array.from({ length: 256 }, (_, byte) =>
  GROUP.reduce(
    (bits, set, place) => bits | (new RegExp(`[${set}]`).test(String.fromCharCode(byte)) ? 1 << place : 0),
    0,
  ),
)
/** A backslash is in a run since it may be before a slash, and since an escape may end right before a run. */
const IN_RUN = byteTable((_, char) => /[\w+/\\-]/.test(char))
const LETTER_OR_DIGIT = byteTable((_, char) => /[A-Za-z0-9]/.test(char))
const [U, SLASH] = [0x75, 0x2f]

/**
 * Calls `found` with each offset in a JSON text where `BASE64_TEXT` may begin. Looks at every twelfth byte until one may be in a run:
 * a pattern would look at each.
 */
export function findBase64Text(json: Uint8Array, found: (at: number) => void): void {
  for (let at = MIN_LENGTH - 1; at < json.length; at += MIN_LENGTH) {
    if (IN_RUN[json[at] ?? 0] === 0) continue
    let start = at
    while (start > 0 && IN_RUN[json[start - 1] ?? 0] === 1) start--
    let end = at + 1
    while (IN_RUN[json[end] ?? 0] === 1) end++
    if (end - start >= MIN_LENGTH) findBeginnings(json, start, end, found)
    at = end
  }
}

/** What may begin in a part of a run: at its start, after an escape, and after characters that only end a group. */
function findBeginnings(json: Uint8Array, start: number, end: number, found: (at: number) => void): void {
  let mayBegin = LETTER_OR_DIGIT[json[start - 1] ?? 0] === 0
  for (let at = start; at <= end - MIN_LENGTH; at++) {
    if (json[at] === BACKSLASH && json[at + 1] !== SLASH) {
      at += json[at + 1] === U ? 5 : 1
      mayBegin = true
      continue
    }
    if (mayBegin && beginsText(json, at)) found(at)
    mayBegin = LETTER_OR_DIGIT[json[at] ?? 0] === 0
  }
}

function beginsText(json: Uint8Array, start: number): boolean {
  for (let place = 0, at = start; place < MIN_LENGTH; place++, at++) {
    if (json[at] === BACKSLASH && json[at + 1] === SLASH) at++
    if (((PLACES[json[at] ?? 0] ?? 0) & (1 << (place % GROUP.length))) === 0) return false
  }
  return true
}
