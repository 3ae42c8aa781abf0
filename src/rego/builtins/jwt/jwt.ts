import { trimSigns } from '../../../lib/text/trim-signs.js'
import { createSecretKey } from 'node:crypto'
import type { RegoValue } from '../../values/value.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import {
  decodeHeader,
  decodePayload,
  decodeSection,
  readClaims,
  signingInput,
  splitToken,
  withContext,
} from './compact-token.js'
import { decodeVerify } from './decode-verify.js'
import { encodeSign, encodeSignRaw } from './encode-sign.js'
import { readHeaderFields } from './header-fields.js'
import { verifySignature } from './signature.js'
import type { JwsAlgorithm } from './signature.js'
import { readVerificationKeys, verifiesWithAny } from './verification-keys.js'
import { stringOperand } from '../shared/operands.js'

/** JSON web tokens. `io.jwt.verify_eddsa` is younger than OPA 0.70; a bundle built by a newer one may call it. */
export const jwtBuiltins: BuiltinTable = {
  'io.jwt.decode': decode,
  'io.jwt.decode_verify': decodeVerify,
  'io.jwt.encode_sign': encodeSign,
  'io.jwt.encode_sign_raw': encodeSignRaw,
  'io.jwt.verify_hs256': verifyWithSecret('HS256'),
  'io.jwt.verify_hs384': verifyWithSecret('HS384'),
  'io.jwt.verify_hs512': verifyWithSecret('HS512'),
  'io.jwt.verify_rs256': verifyWithKeys('RS256'),
  'io.jwt.verify_rs384': verifyWithKeys('RS384'),
  'io.jwt.verify_rs512': verifyWithKeys('RS512'),
  'io.jwt.verify_ps256': verifyWithKeys('PS256'),
  'io.jwt.verify_ps384': verifyWithKeys('PS384'),
  'io.jwt.verify_ps512': verifyWithKeys('PS512'),
  'io.jwt.verify_es256': verifyWithKeys('ES256'),
  'io.jwt.verify_es384': verifyWithKeys('ES384'),
  'io.jwt.verify_es512': verifyWithKeys('ES512'),
  'io.jwt.verify_eddsa': verifyWithKeys('EdDSA'),
}

/** `[header, payload, signature in hex]` of the innermost token, nothing verified. */
function decode(args: readonly RegoValue[]): RegoValue {
  let text = stringOperand(args, 0)
  for (;;) {
    const token = splitToken(text)
    const header = decodeHeader(token)
    const payload = decodePayload(token)
    if (header.get('cty') !== 'JWT') {
      const claims = readClaims(payload)
      const signature = withContext('JWT signature had invalid encoding', () =>
        decodeSection(token.signature),
      )
      return [header, claims, signature.toString('hex')]
    }
    // A token inside a token may be a JSON string: its quotes are no part of it.
    text = trimSigns(payload.toString('utf8'), `"'`)
  }
}

/** The function's name fixes the algorithm: what the token's header says of it plays no part. */
function verifyWithSecret(algorithm: JwsAlgorithm): Builtin {
  return (args, { meter }) => {
    const text = stringOperand(args, 0)
    const secret = createSecretKey(Buffer.from(stringOperand(args, 1)))
    const token = splitToken(text)
    return verifySignature(algorithm, secret, signingInput(token), decodeSection(token.signature), meter)
  }
}

function verifyWithKeys(algorithm: JwsAlgorithm): Builtin {
  return (args, { meter }) => {
    const token = splitToken(stringOperand(args, 0))
    const keys = readVerificationKeys(stringOperand(args, 1), meter)
    const signature = decodeSection(token.signature)
    const fields = readHeaderFields(decodeHeader(token))
    return verifiesWithAny(keys, algorithm, fields, token, signature, meter)
  }
}
