import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/**
 * Lines of real systems with their true templates, in a folder next to the repository. Tests and
 * benchmarks run from the repository's root; the folder may be missing.
 */
const DIRECTORY = join(process.cwd(), '../shared/conformance/logs')
const Line = z.object({ content: z.string(), event: z.string() })

export interface LabelledLines {
  readonly name: string
  readonly lines: readonly { readonly content: string; readonly event: string }[]
}

/** All sets that are there. */
export function readLabelledLines(): LabelledLines[] {
  if (!existsSync(DIRECTORY)) return []
  const files = readdirSync(DIRECTORY).filter((name) => name.endsWith('.jsonl'))
  return files.map((file) => ({ name: file.replace('.jsonl', ''), lines: readLines(file) }))
}

function readLines(file: string): z.output<typeof Line>[] {
  const text = readFileSync(join(DIRECTORY, file), 'utf8').trimEnd()
  return text.split('\n').map((line) => Line.parse(JSON.parse(line)))
}
