import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const cases = new URL('../cases/', import.meta.url)

/** The folder of the example policies. */
export const policiesFolder = fileURLToPath(new URL('../../policies', import.meta.url))

/** The reasons that the example policies give for a sample; none when it is allowed. */
interface ExpectedVerdict {
  readonly deny: readonly string[]
}

/** A sample of a runtime check is judged by one policy, named by its path below `data`. */
interface ExpectedRuntimeVerdict extends ExpectedVerdict {
  readonly path: string
}

/** The samples of a folder, by file name in order. */
export function sampleFiles(folder: 'pipelines' | 'runtime'): string[] {
  return readdirSync(new URL(`${folder}/`, cases)).sort()
}

/** A sample as the JSON value that the file holds. */
export function readSample(folder: 'pipelines' | 'runtime', file: string): unknown {
  return readCase(`${folder}/${file}`)
}

/** Expected results of the pipeline samples, by file name. */
export function expectedPipelineVerdicts(): Record<string, ExpectedVerdict> {
  return readCase('pipeline-verdicts.json') as Record<string, ExpectedVerdict>
}

/** Expected results of the runtime samples, by file name. */
export function expectedRuntimeVerdicts(): Record<string, ExpectedRuntimeVerdict> {
  return readCase('runtime-verdicts.json') as Record<string, ExpectedRuntimeVerdict>
}

function readCase(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, cases), 'utf8'))
}
