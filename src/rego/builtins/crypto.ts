import { createHash, createHmac } from 'node:crypto'

import type { RegoValue } from '../values/value.js'
import { equalInConstantTime } from './encoding/constant-time.js'
import { decodeUtf8 } from './encoding/go-utf8.js'
import { isPrintable } from './go-format/quote.js'
import { BuiltinError } from './shared/builtin.js'
import type { Builtin, BuiltinTable } from './shared/builtin.js'
import { stringOperand } from './shared/operands.js'

/** Digests and message authentication codes in hex; the encodings hex and unpadded base64url. */
export const cryptoBuiltins: BuiltinTable = {
  'crypto.md5': digestWith('md5'),
  'crypto.sha1': digestWith('sha1'),
  'crypto.sha256': digestWith('sha256'),
  'crypto.hmac.md5': hmacWith('md5'),
  'crypto.hmac.sha1': hmacWith('sha1'),
  'crypto.hmac.sha256': hmacWith('sha256'),
  'crypto.hmac.sha512': hmacWith('sha512'),
  'crypto.hmac.equal': (args) =>
    equalInConstantTime(Buffer.from(stringOperand(args, 0)), Buffer.from(stringOperand(args, 1))),
  'hex.encode': (args) => Buffer.from(stringOperand(args, 0), 'utf8').toString('hex'),
  'hex.decode': decodeHex,
  'base64url.encode_no_pad': (args) => Buffer.from(stringOperand(args, 0), 'utf8').toString('base64url'),
}

function digestWith(algorithm: string): Builtin {
  return (args) => createHash(algorithm).update(stringOperand(args, 0), 'utf8').digest('hex')
}

function hmacWith(algorithm: string): Builtin {
  return (args) => {
    const message = stringOperand(args, 0)
    return createHmac(algorithm, stringOperand(args, 1)).update(message, 'utf8').digest('hex')
  }
}

function decodeHex(args: readonly RegoValue[]): RegoValue {
  const text = stringOperand(args, 0)
  const bad = /[^0-9a-fA-F]/.exec(text)
  if (bad !== null) throw new BuiltinError(`encoding/hex: invalid byte: ${describeByte(bad[0])}`)
  if (text.length % 2 === 1) throw new BuiltinError('encoding/hex: odd length hex string')
  return decodeUtf8(Buffer.from(text, 'hex'))
}

/** Go's notation for the first byte of a character: `U+00C3 'Ã'` for `É`. */
function describeByte(character: string): string {
  const byte = Buffer.from(character, 'utf8')[0] ?? 0
  const codePoint = `U+${byte.toString(16).toUpperCase().padStart(4, '0')}`
  const shown = String.fromCodePoint(byte)
  return isPrintable(shown) ? `${codePoint} '${shown}'` : codePoint
}
