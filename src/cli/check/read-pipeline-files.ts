import { readDefinitions } from '../input/read-definitions.js'
import type { Definition, InputForm } from '../input/read-definitions.js'
import { emptyFile, readDocuments } from '../input/read-document.js'
import type { Position, SourceDocument } from '../input/source-node.js'
import type { Terminal } from '../session/terminal.js'
import { listSome, toCheckError } from './check-definition.js'
import type { Unchecked } from './check-report.js'
import { findDefinitions } from './find-definitions.js'
import { listStages } from './locate-stages.js'
import type { LocatedStage } from './locate-stages.js'

/** A definition with its location. */
export interface ReadDefinition extends Definition {
  readonly file: string
  readonly position: Position
  /** Returns its stages with their positions. */
  readonly stages: () => readonly LocatedStage[]
}

/**
 * Reads the definitions of all paths, each file once, without `others`. What cannot be read becomes
 * a result, so the rest is still checked.
 */
export async function readPipelineFiles(
  paths: readonly string[],
  { form, others }: { readonly form: InputForm | undefined; readonly others: ReadonlySet<string> },
  terminal: Terminal,
): Promise<(ReadDefinition | Unchecked)[]> {
  const left: string[] = []
  const search = { others, skipped: (path: string) => void left.push(path) }
  const found = await Promise.all(
    paths.map((path) => collect({ file: path }, () => findDefinitions(path, search))),
  )
  if (left.length > 0)
    terminal.err(`Skipped: ${listSome(left.sort())} (hidden, configuration or data of policies).\n`)
  const definitions: (ReadDefinition | Unchecked)[] = []
  for (const file of new Set(found.flat())) {
    const read =
      typeof file === 'string' ? await collect({ file }, () => readFile(file, form, terminal)) : [file]
    for (const definition of read) definitions.push(definition)
  }
  return definitions
}

async function readFile(
  file: string,
  form: InputForm | undefined,
  terminal: Terminal,
): Promise<(ReadDefinition | Unchecked)[]> {
  const { documents, positions } = await readDocuments(file, terminal)
  if (documents.length === 0) throw emptyFile(file)
  const definitions: (ReadDefinition | Unchecked)[] = []
  for (const document of documents) {
    const position = positions.at(document.source.offset)
    const read = await collect({ file, position }, () =>
      Promise.resolve(
        pairs(document, form).map(({ definition, source }) => ({
          ...definition,
          file,
          position: positions.at(source.offset),
          stages: () => listStages(source, positions),
        })),
      ),
    )
    for (const definition of read) definitions.push(definition)
  }
  return definitions
}

/** Returns the definitions of a document, each with its node. */
function pairs({ json, source }: SourceDocument, form: InputForm | undefined) {
  const definitions = readDefinitions(json, form)
  const list = [source, source.member('pipelines')].flatMap((node) => node?.elements() ?? [])
  // Only arrays and dinghyfiles have one definition for each element.
  const nodes = list.length === definitions.length && source.member('stages') === undefined ? list : []
  return definitions.map((definition, index) => ({
    definition,
    source: nodes[index] ?? source,
  }))
}

async function collect<T>(
  origin: Pick<Unchecked, 'file' | 'position'>,
  read: () => Promise<T[]>,
): Promise<(T | Unchecked)[]> {
  try {
    return await read()
  } catch (raw) {
    return [{ ...origin, name: undefined, error: toCheckError(raw) }]
  }
}
