/** Longer than any line of JSON that is read. */
const MAX_CHARACTERS = 64 * 1024
/** Behind the time comes the name of a stream, of six letters. */
const MARK_BEHIND_TIME = ' stdout '.length
const PREFIX = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (stdout|stderr) ([FP]) /

/** Puts lines together that the container runtime of Kubernetes has cut: all parts but the last are marked with a `P`. */
export class PartialLines {
  readonly #begun = new Map<string, string>()

  /** Takes the next line and gives it whole; undefined while more of it is to come. */
  add(line: string): string | undefined {
    // Most logs have no such line, and are spared the search.
    if (this.#begun.size === 0 && line.charAt(line.indexOf(' ') + MARK_BEHIND_TIME) !== 'P') return line
    const [prefix = '', stream = '', mark] = PREFIX.exec(line) ?? []
    const begun = this.#begun.get(stream)
    const room = Math.max(0, MAX_CHARACTERS - (begun?.length ?? 0))
    const whole = begun === undefined ? line : begun + line.slice(prefix.length).slice(0, room)
    if (mark === 'P') {
      this.#begun.set(stream, begun === undefined ? line.replace(' P ', ' F ') : whole)
      return undefined
    }
    if (mark === 'F') this.#begun.delete(stream)
    return mark === 'F' ? whole : line
  }

  /** What is begun and never ended. */
  rest(): string[] {
    const lines = [...this.#begun.values()]
    this.#begun.clear()
    return lines
  }
}
