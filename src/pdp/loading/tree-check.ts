import { toError } from '../../errors/app-error.js'
import { listSourceFiles } from '../compile/list-source-files.js'

/** The least time between two looks at all files, in milliseconds. */
const LEAST_MS = 2000
/** Looking takes no more than this share of the time: large trees are looked at less often. */
const PAUSE_FACTOR = 50

/**
 * Looks at all files of policy directories from time to time. It finds what a watch does not tell: a link that leads elsewhere now, a file with the time of the
 * one before it, and all of a directory that cannot be watched.
 */
export class TreeCheck {
  readonly #directories: readonly string[]
  readonly #changed: () => void
  #known: string
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  /** `known` is what `versionOfTrees` gave for the files that were loaded. */
  constructor(directories: readonly string[], known: string, changed: () => void) {
    this.#directories = directories
    this.#known = known
    this.#changed = changed
  }

  /** Looks at once, and from then on again and again. */
  start(): void {
    this.#lookIn(0)
  }

  /** Takes the files as they are now for known: what changes from here on is a change. */
  async note(): Promise<void> {
    this.#known = await versionOfTrees(this.#directories)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #lookIn(ms: number): void {
    if (this.#isStopped || this.#directories.length === 0) return
    this.#timer = setTimeout(() => void this.#look(), ms)
  }

  async #look(): Promise<void> {
    const startedAt = performance.now()
    const before = this.#known
    const version = await versionOfTrees(this.#directories)
    // Whoever noted the files meanwhile loads them anyway.
    if (before === this.#known && version !== before) {
      this.#known = version
      if (!this.#isStopped) this.#changed()
    }
    this.#lookIn(Math.max(LEAST_MS, (performance.now() - startedAt) * PAUSE_FACTOR))
  }
}

/** A text that is another one as soon as a file is. */
export async function versionOfTrees(directories: readonly string[]): Promise<string> {
  const versions = await Promise.all(
    directories.map((directory) =>
      listSourceFiles(directory).then(
        (files) => files.map(({ file, version }) => `${file} ${version}`).join('\n'),
        (raw: unknown) => toError(raw).message,
      ),
    ),
  )
  return versions.join('\n')
}
