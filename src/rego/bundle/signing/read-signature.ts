import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import {
  decodeHeader,
  decodePayload,
  decodeSection,
  readHeaderFields,
  signingInput,
  splitToken,
} from '../../builtins/jwt/compact-token.js'
import { verifySignature } from '../../builtins/jwt/signature.js'
import { UNMETERED_WORK } from '../../metering/work-meter.js'
import type { BundleKey, SignatureDemand } from './verification.js'

/** `.signatures.json`: OPA takes exactly one signature. */
const Signatures = z.object({ signatures: z.array(z.string()).length(1), plugin: z.string().default('') })
/** What OPA notes of a signature of its own: `opa build` the name, `opa sign` none. */
const OWN_PLUGINS: readonly string[] = ['', '_default']

const Payload = z.object({
  files: z.array(z.object({ name: z.string(), hash: z.string(), algorithm: z.string() })),
  scope: z.string().default(''),
  /** Where OPA looks for the key's id when the header has none. */
  keyid: z.string().default(''),
})

export type SignedFile = z.infer<typeof Payload>['files'][number]

/**
 * The files that a bundle's `.signatures.json` vouches for, once its signature holds. The algorithm is that of the configured key:
 * what the token says of it must be the same. Where a key is demanded, the token's own name for it says nothing, as in OPA, which calls
 * every key 'default' unless told otherwise. Raises an error whose message says what is wrong.
 */
export function readSignature(
  content: Buffer,
  keys: ReadonlyMap<string, BundleKey>,
  { keyId, scope }: SignatureDemand,
): readonly SignedFile[] {
  const { signatures, plugin } = Signatures.parse(JSON.parse(content.toString('utf8')))
  if (!OWN_PLUGINS.includes(plugin)) throw new AppError('invalid', `it is for the plugin ${plugin}`)
  const token = splitToken(signatures[0] ?? '')
  const fields = readHeaderFields(decodeHeader(token))
  const payload = Payload.parse(JSON.parse(decodePayload(token).toString('utf8')))
  const id = keyId ?? (fields.kid || payload.keyid)
  if (id === '')
    throw new AppError('invalid', 'it names no key, and the configuration names none for this bundle')
  const key = keys.get(id)
  if (key === undefined)
    throw new AppError(
      'invalid',
      `the key '${id}' is not in policies.bundleSigning.keys: say with keyId there, or --verification-key-id, which key of yours must have signed`,
    )
  if (fields.alg !== key.algorithm || !fields.understood)
    throw new AppError(
      'invalid',
      `its algorithm is '${fields.alg}', that of the key '${id}' is ${key.algorithm}`,
    )
  const signature = decodeSection(token.signature)
  const isSigned = keysOf(key).some((one) =>
    verifySignature(key.algorithm, one, signingInput(token), signature, UNMETERED_WORK),
  )
  if (!isSigned) throw new AppError('invalid', `it does not verify with the key '${id}'`)
  const wantedScope = scope ?? key.scope
  if (payload.scope !== wantedScope)
    throw new AppError('invalid', `its scope is '${payload.scope}', not '${wantedScope}'`)
  return payload.files
}

/** OPA takes the whole of a file for its secret, the line break that an editor or `echo` ends it with included. */
function keysOf({ key }: BundleKey): KeyObject[] {
  if (key.type !== 'secret') return [key]
  const secret = key.export()
  return [key, ...['\n', '\r\n'].map((end) => createSecretKey(Buffer.concat([secret, Buffer.from(end)])))]
}
