import { AppError } from '../../errors/app-error.js'
import type { OpaProgram } from './find-opa.js'
import { factOfProgram } from './hash-program.js'
import { runOpa } from './run-opa.js'

/** The two versions of the Rego language: 0 without and 1 with `if` and `contains` by default. */
export type RegoVersion = 0 | 1

/** Timeout of `opa version`, shorter than that of compiling. */
const TIME_LIMIT_MS = 30_000
/** Manifests of older releases have no Rego version for each file. */
const OLDEST_MINOR = 70
const REMEDY = 'name OPA 0.70 or later with --opa or OPA_BIN'
const releaseOf = factOfProgram(readRelease)
const known = new WeakMap<OpaProgram, Promise<string>>()

/**
 * Returns the release of the program, as `1.20.2`. Raises `unavailable` if it is not OPA or too
 * old, and as `runOpa`.
 */
export async function opaRelease(opa: OpaProgram): Promise<string> {
  if (opa.release !== undefined) return opa.release
  const asked = known.get(opa) ?? releaseOf(opa)
  known.set(opa, asked)
  try {
    return await asked
  } catch (raw) {
    // The program may respond next time.
    known.delete(opa)
    throw raw
  }
}

async function readRelease(opa: OpaProgram): Promise<string> {
  const { stdout } = await runOpa(opa, ['version'], { timeLimitMs: TIME_LIMIT_MS })
  const { release, major, minor } =
    /^Version:\s*v?(?<release>(?<major>\d+)\.(?<minor>\d+)\S*)/m.exec(stdout)?.groups ?? {}
  const what = `${opa.path} (from ${opa.source})`
  if (release === undefined)
    throw new AppError('unavailable', `${what} is not opa, since \`opa version\` names no release: ${REMEDY}`)
  if (Number(major) === 0 && Number(minor) < OLDEST_MINOR)
    throw new AppError('unavailable', `${what} is OPA ${release}, which is too old: ${REMEDY}`)
  return release
}

/** Returns the program's default Rego version: 0 before OPA 1.0, then 1. */
export async function opaRegoVersion(opa: OpaProgram): Promise<RegoVersion> {
  return (await opaRelease(opa)).startsWith('0.') ? 0 : 1
}

/**
 * Returns keywords of `import future.keywords` that no Rego version has by default: `not` for
 * negations of whole bodies, `and` and `or`.
 */
export async function laterKeywords(opa: OpaProgram): Promise<readonly string[]> {
  const [major = 0, minor = 0] = (await opaRelease(opa)).split('.').map(Number)
  const isSince = (first: number): boolean => major > 1 || (major === 1 && minor >= first)
  return [...(isSince(17) ? ['not'] : []), ...(isSince(20) ? ['and', 'or'] : [])]
}

/** Returns the flags for a Rego version. */
export async function regoVersionFlags(opa: OpaProgram, version: RegoVersion): Promise<string[]> {
  if ((await opaRegoVersion(opa)) === version) return []
  return [version === 1 ? '--v1-compatible' : '--v0-compatible']
}
