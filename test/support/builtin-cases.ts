import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { OutcomeCase } from './builtin-outcome.js'

const OutcomeCases = z.array(z.tuple([z.string(), z.string(), z.string()]))

/** The calls and outcomes in `test/cases/builtins/<family>.json`: what OPA 0.70 itself answered. */
export function builtinCases(family: string): readonly OutcomeCase[] {
  const file = new URL(`../cases/builtins/${family}.json`, import.meta.url)
  return OutcomeCases.parse(JSON.parse(readFileSync(file, 'utf8')))
}
