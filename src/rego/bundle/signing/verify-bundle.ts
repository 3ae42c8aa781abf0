import { AppError, toError } from '../../../errors/app-error.js'
import type { UnpackedFiles } from '../../archive/unpack-bundle.js'
import { hashFile } from './hash-file.js'
import { readSignature } from './read-signature.js'
import type { SignedFile } from './read-signature.js'
import type { BundleVerification } from './verification.js'

const SIGNATURES_FILE = '.signatures.json'

/**
 * Verifies that the signature lists every file with its hash, and no other file. Raises `invalid`,
 * naming the bundle, for an invalid signature, one without a configured key, and a missing one if a
 * signature is required.
 */
export function verifyBundle(
  bundle: string,
  files: UnpackedFiles,
  { keys, demandOf }: BundleVerification,
): void {
  const demand = demandOf(bundle)
  const content = files.get(SIGNATURES_FILE)
  if (content === undefined) {
    if (!demand.isRequired) return
    throw new AppError('invalid', `the bundle ${bundle} is not signed, and the configuration requires it`)
  }
  try {
    const signed = new Map(
      readSignature(content, keys, demand).map((file) => [file.name.replace(/^\.?\//, ''), file]),
    )
    const isExcluded = toMatcher(demand.excludedFiles)
    const problems = [...files].flatMap(([path, bytes]) => {
      if (path === SIGNATURES_FILE || isExcluded(path)) return []
      return problemOf(path, bytes, signed.get(path)) ?? []
    })
    for (const path of signed.keys()) if (!files.has(path)) problems.push(`${path} is signed and not there`)
    if (problems.length > 0) throw new AppError('invalid', problems.join('; '))
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
    const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${parts.join('[^/]*')}$`)
  })
  return (path) => expressions.some((expression) => expression.test(path))
}
