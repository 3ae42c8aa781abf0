import type { RegoValue } from '../values/value.js'
import { BuiltinError } from './shared/builtin.js'
import type { BuiltinTable } from './shared/builtin.js'
import { decodeUtf8 } from './encoding/go-utf8.js'
import { isPrintable } from './go-format/quote.js'
import { stringOperand } from './shared/operands.js'

type Args = readonly RegoValue[]

/** Bytes of a text in hexadecimal, and in base64 for URLs without padding. */
export const hexBuiltins: BuiltinTable = {
  'hex.encode': (args) => Buffer.from(stringOperand(args, 0), 'utf8').toString('hex'),
  'hex.decode': decodeHex,
  'base64url.encode_no_pad': (args) => Buffer.from(stringOperand(args, 0), 'utf8').toString('base64url'),
}

function decodeHex(args: Args): RegoValue {
  const text = stringOperand(args, 0)
  const bad = /[^0-9a-fA-F]/.exec(text)
  if (bad !== null) throw new BuiltinError(`encoding/hex: invalid byte: ${describeByte(bad[0])}`)
  if (text.length % 2 === 1) throw new BuiltinError('encoding/hex: odd length hex string')
  return decodeUtf8(Buffer.from(text, 'hex'))
}

/** Go names the first byte of a character as if it were a code point: `U+00C3 'Ã'` for `É`. */
function describeByte(character: string): string {
  const byte = Buffer.from(character, 'utf8')[0] ?? 0
  const codePoint = `U+${byte.toString(16).toUpperCase().padStart(4, '0')}`
  const shown = String.fromCodePoint(byte)
  return isPrintable(shown) ? `${codePoint} '${shown}'` : codePoint
}
