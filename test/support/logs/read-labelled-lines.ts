import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** Lines of real systems with their true templates; they stand beside the repository and may be absent. */
const DIRECTORY = fileURLToPath(new URL('../../../../shared/conformance/logs/', import.meta.url))
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
  const text = readFileSync(`${DIRECTORY}${file}`, 'utf8').trimEnd()
  return text.split('\n').map((line) => Line.parse(JSON.parse(line)))
}
