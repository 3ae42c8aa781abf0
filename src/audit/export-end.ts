const NDJSON_END = /^\{"end":\{"records":(?<records>\d+)\}\}$/
const CSV_END = /^end,(?<records>\d+),+$/
/** No last line is longer. */
const LONGEST = 200

/** Watches an export go by for the line that says that it is whole. */
export class ExportEnd {
  #tail = ''

  /** The next bytes of the export. */
  pass(chunk: Uint8Array): void {
    const end = Buffer.from(chunk.subarray(Math.max(0, chunk.length - LONGEST))).toString('latin1')
    this.#tail = (this.#tail + end).slice(-LONGEST)
  }

  /** How many records the last line tells of; undefined while there is none, so that what came is not all. */
  get records(): number | undefined {
    if (!this.#tail.endsWith('\n')) return undefined
    const line = this.#tail.trimEnd().split('\n').at(-1) ?? ''
    const records = (NDJSON_END.exec(line) ?? CSV_END.exec(line))?.groups?.['records']
    return records === undefined ? undefined : Number(records)
  }
}
