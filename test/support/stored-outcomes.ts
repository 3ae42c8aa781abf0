import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OutcomeCase } from './builtin-outcome.js'

interface StoredOutcomes {
  readonly keys: Readonly<Record<string, string>>
  readonly cases: readonly OutcomeCase[]
}

/**
 * The cases of test/cases/builtins/`name`.json, with each `@{key}` in their operands replaced by
 * that key's text.
 */
export function readStoredOutcomes(name: string): OutcomeCase[] {
  const file = join(import.meta.dirname, '../cases/builtins', `${name}.json`)
  const stored = JSON.parse(readFileSync(file, 'utf8')) as StoredOutcomes
  return stored.cases.map(([builtin, args, outcome]) => [builtin, fillIn(args, stored.keys), outcome])
}

function fillIn(args: string, keys: StoredOutcomes['keys']): string {
  return args.replaceAll(/@\{([^}]+)\}/g, (_, key: string) => JSON.stringify(keys[key]).slice(1, -1))
}
