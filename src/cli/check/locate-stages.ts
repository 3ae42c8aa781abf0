import type { Position, Positions, SourceNode } from '../input/source-node.js'

/** A stage of a definition. It may lack a name or a refId. */
export interface LocatedStage {
  readonly name: string | undefined
  readonly refId: string | undefined
  readonly position: Position
}

/** Members with the definition in the orchestrator's requests. */
const WRAPPERS = ['new', 'pipeline', 'app']
/** Maximum length of a reason that is searched and of a name that is found, in UTF-16 units. */
const MAX_REASON = 1000
const MAX_NAME = 200
const WORD = /[\p{L}\p{N}_]/u
const QUOTES: Readonly<Record<string, string>> = { "'": "'", '"': '"', '`': '`', '“': '”', '‘': '’' }

/**
 * Returns the stages of a definition, wrapped or not, in the order of the file: of `stages`, and of
 * `config.stages` in a definition from a v1 template.
 */
export function listStages(source: SourceNode, positions: Positions): LocatedStage[] {
  for (const outer of [source, source.member('input')]) {
    for (const definition of [outer, ...WRAPPERS.map((name) => outer?.member(name))]) {
      const nodes = [definition?.member('stages'), definition?.member('config')?.member('stages')]
      const stages = nodes.flatMap((node) => node?.elements() ?? [])
      if (stages.length > 0) return stages.map((stage) => locate(stage, positions))
    }
  }
  return []
}

function locate(stage: SourceNode, positions: Positions): LocatedStage {
  const refId = stage.member('refId') ?? stage.member('id')
  return {
    name: stage.member('name')?.text(),
    refId: refId?.text(),
    position: positions.at(stage.offset),
  }
}

/** Finds the stage that a reason names. Names and refIds that several stages have are not found. */
export class StageFinder {
  readonly #names: ReadonlyMap<string, LocatedStage | undefined>
  readonly #refIds: ReadonlyMap<string, LocatedStage | undefined>

  constructor(stages: readonly LocatedStage[]) {
    this.#names = index(stages, ({ name }) => name)
    this.#refIds = index(stages, ({ refId }) => refId)
  }

  /**
   * Returns the first stage that a reason names, the longest name first. A refId must be in quotes
   * or follow "stage" or "refId", and a name must be as well, unless the reason starts with it or
   * it consists of several words: `1` and `deploy` have other meanings.
   */
  find(reason: string): LocatedStage | undefined {
    const text = reason.slice(0, MAX_REASON)
    const boundaries = wordBoundaries(text)
    const ends = boundaries.filter((at) => /\S/.test(text[at - 1] ?? ' ')).toReversed()
    for (const start of boundaries.filter((at) => /\S/.test(text[at] ?? ' '))) {
      for (const end of ends) {
        if (end <= start) break
        const stage = end - start <= MAX_NAME ? this.#stageAt(text, start, end) : undefined
        if (stage !== undefined) return stage
      }
    }
    return undefined
  }

  #stageAt(text: string, start: number, end: number): LocatedStage | undefined {
    const words = text.slice(start, end)
    const [byName, byRefId] = [this.#names.get(words), this.#refIds.get(words)]
    if (byName === undefined && byRefId === undefined) return undefined
    const isQuoted = QUOTES[text[start - 1] ?? ''] === text[end] && end < text.length
    const before = text.slice(0, isQuoted ? start - 1 : start)
    if (/\bpipeline\s*$/i.test(before)) return undefined
    if (/\bref ?id[\s:=#]*$/i.test(before)) return byRefId
    const isMarked = isQuoted || /\bstages?[\s:=#]+$/i.test(before)
    if (isMarked) return byName ?? byRefId
    return start === 0 || /\S\s+\S/.test(words) ? byName : undefined
  }
}

/** Returns the stages by key. A key of several stages has the value undefined. */
function index(
  stages: readonly LocatedStage[],
  keyOf: (stage: LocatedStage) => string | undefined,
): Map<string, LocatedStage | undefined> {
  const found = new Map<string, LocatedStage | undefined>()
  for (const stage of stages) {
    const key = keyOf(stage)?.trim() ?? ''
    if (key !== '') found.set(key, found.has(key) ? undefined : stage)
  }
  return found
}

/** Returns the ascending offsets at which no word continues. */
function wordBoundaries(text: string): number[] {
  const isWord = Array.from({ length: text.length }, (_, at) => WORD.test(text[at] ?? ''))
  return Array.from({ length: text.length + 1 }, (_, at) => at).filter(
    (at) => !(isWord[at - 1] && isWord[at]),
  )
}
