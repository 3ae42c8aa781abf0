import { isUtf8 } from 'node:buffer'

import { BACKSLASH, byteTable } from '../json/scan/json-bytes.js'

/**
 * Character sets of the four Base64 characters of a group whose three bytes are ASCII and whose
 * first byte is printable or white space. Bit 5 of the first character, bit 3 of the second and bit
 * 1 of the third are clear.
 */
const GROUP = ['CDI-Za-f', 'A-HQ-Xg-nw-z0-3', 'ABEFIJMNQRUVYZcdghklopstwx014589', 'A-Za-z0-9+/_-']
/** Number of groups in the shortest text that can contain a secret. */
const GROUPS = 3
const MIN_LENGTH = GROUPS * GROUP.length

/**
 * A run of Base64 that starts with ASCII text, on one line or on lines of at least 60 characters.
 */
const BASE64_TEXT = new RegExp(
  String.raw`(?<![A-Za-z0-9])(?:${GROUP.map((set) => `[${set}]`).join('')}){${GROUPS}}[\w+/-]*(?:(?<=[\w+/-]{60})\r?\n[ \t]{0,40}[\w+/-]+)*={0,2}`,
  'g',
)
const BINARY = /[^\P{Cc}\t\r\n]/u

/**
 * Redacts Base64-encoded text in `value`. `redact` receives the decoded text and whether its end
 * may be missing because `value` was truncated. It returns the text to encode instead, or undefined
 * to keep the run.
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

/** Decodes a run. Undefined if it is not text. */
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

/** For each byte, its possible positions within a group as bits. */
const POSITIONS = Uint8Array.from({ length: 256 }, (_, byte) =>
  GROUP.reduce(
    (bits, set, position) =>
      bits | (new RegExp(`[${set}]`).test(String.fromCharCode(byte)) ? 1 << position : 0),
    0,
  ),
)
/**
 * A backslash belongs to a run, because it may escape a slash, or end an escape right before a run.
 */
const IN_RUN = byteTable((_, char) => /[\w+/\\-]/.test(char))
const LETTER_OR_DIGIT = byteTable((_, char) => /[A-Za-z0-9]/.test(char))
const [U, SLASH] = [0x75, 0x2f]

/**
 * Calls `found` with each offset in a JSON text at which `BASE64_TEXT` may start. Checks every
 * twelfth byte until one may be in a run, which a regular expression cannot do.
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

/**
 * Possible starts within a run: its start, after an escape, and after characters that can only end
 * a group.
 */
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
  for (let position = 0, at = start; position < MIN_LENGTH; position++, at++) {
    if (json[at] === BACKSLASH && json[at + 1] === SLASH) at++
    if (((POSITIONS[json[at] ?? 0] ?? 0) & (1 << (position % GROUP.length))) === 0) return false
  }
  return true
}
