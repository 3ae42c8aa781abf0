import type { OpaProgram } from './find-opa.js'
import { runOpa } from './run-opa.js'

/** The two versions of the Rego language: 0 without and 1 with `if` and `contains` by default. */
export type RegoVersion = 0 | 1

const known = new WeakMap<OpaProgram, Promise<string>>()

/** The release of the program, `1.20.2`; `unknown` where it does not tell. */
export function opaRelease(opa: OpaProgram): Promise<string> {
  const asked =
    known.get(opa) ??
    runOpa(opa, ['version']).then(
      ({ stdout }) => /^Version:\s*(?<release>\S+)/m.exec(stdout)?.groups?.['release'] ?? 'unknown',
    )
  known.set(opa, asked)
  return asked
}

/** The version of Rego that the program reads unless told otherwise: 0 before OPA 1.0, then 1. */
export async function opaRegoVersion(opa: OpaProgram): Promise<RegoVersion> {
  return (await opaRelease(opa)).startsWith('0.') ? 0 : 1
}

/** The flags that make the program read a version of Rego. */
export async function regoVersionFlags(opa: OpaProgram, version: RegoVersion): Promise<string[]> {
  if ((await opaRegoVersion(opa)) === version) return []
  return [version === 1 ? '--v1-compatible' : '--v0-compatible']
}
