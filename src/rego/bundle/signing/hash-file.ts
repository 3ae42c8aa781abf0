import { ownMember } from '../../../lib/own-member.js'
import { createHash } from 'node:crypto'
import { basename } from 'node:path'

import { AppError } from '../../../errors/app-error.js'
import { parseDataFile } from '../../data/base-document.js'
import { RegoNumber, RegoObject, RegoSet } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'

/** OPA's names of hash algorithms, without MD5 and SHA-1, for which collisions can be made. */
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

/** The hash of a bundle's file as OPA signs it. Raises `invalid` for an algorithm that is unknown or too weak. */
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

/** Keys in order, nothing between members, numbers as they are written. */
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

/** As Go's encoding/json writes a string without escaping HTML. */
function goString(text: string): string {
  return JSON.stringify(text.replace(/\p{Surrogate}/gu, '\ufffd'))
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
}
