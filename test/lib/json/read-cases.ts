import { readFileSync } from 'node:fs'

/** The cases of a file of test/cases/json. */
export function readCases(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../cases/json/${name}.json`, import.meta.url), 'utf8'))
}
