import { execFileSync } from 'node:child_process'

import { findBundledOpa } from '../../src/rego/opa/bundled-opa.js'
import { findProgram } from './find-program.js'

/** The variables by which tests are told the compiler: what they load themselves reads the first, and whole processes are given both. */
export const compilerVariables = (program: string): Record<string, string> => ({
  OPA_BIN: program,
  TEST_COMPILER: program,
})

/** The copy of OPA 0.70 that npm installs. */
export function olderOpa(): string | undefined {
  return findBundledOpa(process.platform, process.arch)
}

/** OPA 1.x: the program that TEST_OPA_1 names, else the one on PATH; undefined where there is none, or it is older. */
export function newerOpa(): string | undefined {
  const program = process.env['TEST_OPA_1'] ?? findProgram('opa')
  if (program === undefined) return undefined
  try {
    const text = execFileSync(program, ['version'], { encoding: 'utf8', timeout: 30_000 })
    return /^Version:\s*[1-9]/m.test(text) ? program : undefined
  } catch {
    return undefined
  }
}
