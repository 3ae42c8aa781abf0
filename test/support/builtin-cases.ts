import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { OutcomeCase } from './builtin-outcome.js'

const OutcomeCases = z.array(z.tuple([z.string(), z.string(), z.string()]))

/** The calls and outcomes in `test/cases/builtins/<family>.json`, recorded from OPA 0.70. */
export function builtinCases(family: string): readonly OutcomeCase[] {
  const file = new URL(`../cases/builtins/${family}.json`, import.meta.url)
  return OutcomeCases.parse(JSON.parse(readFileSync(file, 'utf8')))
}
