import { createHash, createHmac } from 'node:crypto'
import type { Builtin, BuiltinTable } from './shared/builtin.js'
import { equalInConstantTime } from './encoding/constant-time.js'
import { stringOperand } from './shared/operands.js'

/** Digests and message authentication codes, as lower-case hex. */
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
