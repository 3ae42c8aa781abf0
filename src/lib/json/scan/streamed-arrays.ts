import { PartCollector } from './part-collector.js'

/** Which arrays of a document are handed over in parts, by where they stand. */
export interface StreamedArrays {
  /** Of an object: those below its members, whose names are written without escapes. */
  readonly members?: Readonly<Record<string, StreamedArrays>>
  /** Of an array: takes its elements, some together, each with what is streamed below it left out of it. */
  readonly take?: (elements: readonly unknown[]) => void
  /** Hands over each element when it ends, after all that is streamed below it; else arrays that follow each other are joined. */
  readonly isOneByOne?: boolean
  /** Of an array: those below its elements. */
  readonly elements?: StreamedArrays
}

/** A place of a document, ready to gather what is there. */
export interface Place {
  readonly members: ReadonlyMap<string, Place>
  readonly elements: Place | undefined
  /** Of an array whose elements are handed over. */
  readonly part: PartCollector | undefined
  /** An element has been kept by `part`. */
  readonly elementEnded: () => void
  /** Hands over all that has been kept here and below. */
  readonly handOverAll: () => void
}

export function openPlace({ members = {}, take, isOneByOne = false, elements }: StreamedArrays): Place {
  const below = new Map(Object.entries(members).map(([name, arrays]) => [name, openPlace(arrays)]))
  const inElements = elements && openPlace(elements)
  const part = take && new PartCollector('an entry of its lists', take)
  const handOverAll = (): void => {
    for (const place of below.values()) place.handOverAll()
    inElements?.handOverAll()
    part?.handOver()
  }
  return {
    members: below,
    elements: inElements,
    part,
    elementEnded: isOneByOne ? handOverAll : () => undefined,
    handOverAll,
  }
}
