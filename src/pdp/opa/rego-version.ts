import type { OpaProgram } from './find-opa.js'
import { runOpa } from './run-opa.js'

/** The two versions of the Rego language: 0 without and 1 with `if` and `contains` by default. */
export type RegoVersion = 0 | 1

const known = new WeakMap<OpaProgram, Promise<RegoVersion>>()

/** The version of Rego that the program reads unless told otherwise: 0 before OPA 1.0, then 1. */
export function opaRegoVersion(opa: OpaProgram): Promise<RegoVersion> {
  const asked =
    known.get(opa) ?? runOpa(opa, ['version']).then(({ stdout }) => (/^Version:\s*0\./m.test(stdout) ? 0 : 1))
  known.set(opa, asked)
  return asked
}

/** The flags that make the program read a version of Rego. */
export async function regoVersionFlags(opa: OpaProgram, version: RegoVersion): Promise<string[]> {
  if ((await opaRegoVersion(opa)) === version) return []
  return [version === 1 ? '--v1-compatible' : '--v0-compatible']
}
