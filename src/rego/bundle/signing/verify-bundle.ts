import { escapeRegExp } from '../../../lib/text/escape-pattern.js'
import { createHash, createSecretKey } from 'node:crypto'
import { basename } from 'node:path'
import type { KeyObject } from 'node:crypto'

import { z } from 'zod'

import { AppError, toError } from '../../../errors/app-error.js'
import type { UnpackedFiles } from '../../archive/unpack-bundle.js'
import type { BundleVerification, BundleKey, SignatureDemand } from './verification.js'
import { ownMember } from '../../../lib/own-member.js'
import { parseDataFile } from '../../data/base-document.js'
import { RegoNumber, RegoObject, RegoSet } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
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

export const SIGNATURES_FILE = '.signatures.json'

/**
 * Verifies that the signature lists every file with its hash, and no other file. Raises `invalid`,
 * naming the bundle, for an invalid signature, one without a configured key, and a missing one if a
 * signature is required. Returns the id of the key; undefined for a bundle without signature.
 */
export function verifyBundle(
  bundle: string,
  files: UnpackedFiles,
  keys: BundleVerification['keys'],
  demand: SignatureDemand,
): string | undefined {
  const content = files.get(SIGNATURES_FILE)
  if (content === undefined) {
    if (!demand.isRequired) return undefined
    throw new AppError('invalid', `the bundle ${bundle} is not signed, and the configuration requires it`)
  }
  try {
    const signature = readSignature(content, keys, demand)
    const signed = new Map(signature.files.map((file) => [file.name.replace(/^\.?\//, ''), file]))
    const isExcluded = toMatcher(demand.excludedFiles)
    const problems = [...files].flatMap(([path, bytes]) => {
      if (path === SIGNATURES_FILE || isExcluded(path)) return []
      return problemOf(path, bytes, signed.get(path)) ?? []
    })
    for (const path of signed.keys()) if (!files.has(path)) problems.push(`${path} is signed and not there`)
    if (problems.length > 0) throw new AppError('invalid', problems.join('; '))
    return signature.keyId
  } catch (raw) {
    const reason = toError(raw).message
    throw new AppError('invalid', `the signature of the bundle ${bundle} does not hold: ${reason}`, {
      cause: raw,
    })
  }
}

function problemOf(path: string, content: Buffer, signed: SignedFile | undefined): string | undefined {
  if (signed === undefined) return `${path} is not signed`
  const actual = hashFile(path, content, signed.algorithm).toString('hex')
  return actual === signed.hash.toLowerCase() ? undefined : `${path} was changed`
}

/** Returns a matcher for OPA's patterns: `*` matches any characters except a slash. */
function toMatcher(patterns: readonly string[]): (path: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const parts = pattern.split('*').map(escapeRegExp)
    return new RegExp(`^${parts.join('[^/]*')}$`)
  })
  return (path) => expressions.some((expression) => expression.test(path))
}

/** OPA's names of hash algorithms, without the broken MD5 and SHA-1. */
const HASHES: Readonly<Record<string, string>> = {
  'SHA-224': 'sha224',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
  'SHA-512-224': 'sha512-224',
  'SHA-512-256': 'sha512-256',
}
/**
 * Files that OPA hashes as parsed values, without white space (`bundle/verify.go`). All others are
 * hashed as bytes.
 */
const STRUCTURED: readonly string[] = ['data.json', 'data.yaml', '.manifest']

/**
 * Returns the hash of a bundle's file as OPA signs it. Raises `invalid` for an unknown or weak
 * algorithm.
 */
export function hashFile(path: string, content: Buffer, algorithm: string): Buffer {
  const name = ownMember(HASHES, algorithm)
  if (name === undefined) {
    throw new AppError(
      'invalid',
      `${path} is hashed with '${algorithm}': sign with one of ${Object.keys(HASHES).join(', ')}`,
    )
  }
  const hash = createHash(name)
  if (!STRUCTURED.includes(basename(path))) return hash.update(content).digest()
  const file = basename(path) === '.manifest' ? `${path}.json` : path
  return hash.update(canonicalText(parseDataFile(file, content))).digest()
}

/** Prints sorted keys, no white space, and numbers as written. */
function canonicalText(value: RegoValue): string {
  if (typeof value === 'string') return goString(value)
  if (value instanceof RegoNumber) return value.text
  if (value instanceof RegoObject) {
    return `{${value.entries.map(([key, member]) => `${canonicalText(key)}:${canonicalText(member)}`).join(',')}}`
  }
  if (value instanceof RegoSet) return `[${value.members.map(canonicalText).join(',')}]`
  if (value === null || typeof value === 'boolean') return String(value)
  return `[${value.map(canonicalText).join(',')}]`
}

/** Prints a string as Go's encoding/json without HTML escaping. */
function goString(text: string): string {
  return JSON.stringify(text.replace(/\p{Surrogate}/gu, '\ufffd'))
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
}

/** `.signatures.json`. OPA accepts exactly one signature. */
const Signatures = z.object({ signatures: z.array(z.string()).length(1), plugin: z.string().default('') })
/** OPA's note of a file: `opa build` includes the name, `opa sign` does not. */
const OWN_PLUGINS: readonly string[] = ['', '_default']

const Payload = z.object({
  files: z.array(z.object({ name: z.string(), hash: z.string(), algorithm: z.string() })),
  scope: z.string().default(''),
  /** OPA's second place for the key id, after the header. */
  keyid: z.string().default(''),
})

export type SignedFile = z.infer<typeof Payload>['files'][number]

/**
 * Returns the files in a bundle's `.signatures.json` after verifying its signature, and the id of
 * the key that verified it. The token's
 * algorithm must be that of the configured key. If a key is required, the token's key name is
 * ignored, as in OPA, which names every key 'default'. Raises an error with the reason.
 */
function readSignature(
  content: Buffer,
  keys: ReadonlyMap<string, BundleKey>,
  { keyId, scope }: SignatureDemand,
): { readonly files: readonly SignedFile[]; readonly keyId: string } {
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
  if (fields.alg !== key.algorithm || !fields.areCriticalFieldsKnown)
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
  return { files: payload.files, keyId: id }
}

/** OPA uses the whole file as the secret, including a final line break. */
function keysOf({ key }: BundleKey): KeyObject[] {
  if (key.type !== 'secret') return [key]
  const secret = key.export()
  return [key, ...['\n', '\r\n'].map((end) => createSecretKey(Buffer.concat([secret, Buffer.from(end)])))]
}
