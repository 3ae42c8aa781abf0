import { existsSync, realpathSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'

import { watch } from 'chokidar'
import type { FSWatcher } from 'chokidar'

import { toError } from '../../errors/app-error.js'
import { isSourceFile } from '../compile/list-source-files.js'

/** Who is told by a watch. */
export interface WatchListeners {
  /** A source file, or a directory itself, is another, is there or is gone. */
  readonly changed: () => void
  /** Told what cannot be watched. */
  readonly unwatched: (error: Error) => void
}

/** A watch on directories, which can be begun anew: one ends with what it is on, and what has the name now needs its own. */
export class DirectoryWatch {
  readonly #roots: readonly string[]
  readonly #listeners: WatchListeners
  readonly #missing = new Set<string>()
  #watcher: FSWatcher
  #hasFailed = false

  constructor(roots: readonly string[], listeners: WatchListeners) {
    this.#roots = roots
    this.#listeners = listeners
    this.#watcher = this.#begin()
  }

  /** Resolves once it is watching. */
  async ready(): Promise<void> {
    // Without anything to watch it is never ready, and after some errors neither.
    if (this.#roots.length === 0) return
    await new Promise<void>((ready) => {
      this.#watcher.once('ready', ready)
      this.#watcher.once('error', () => ready())
    })
  }

  /** Begins anew where a directory that was taken away is back, and tells whether one is. */
  findReturned(): boolean {
    const returned = [...this.#missing].filter((root) => existsSync(root))
    for (const root of returned) this.#missing.delete(root)
    if (returned.length > 0) this.#renew()
    return returned.length > 0
  }

  /** Begins anew after a change that it did not tell, but where something cannot be watched at all: it would fail again. */
  mend(): void {
    if (!this.#hasFailed) this.#renew()
  }

  async close(): Promise<void> {
    await end(this.#watcher)
  }

  #renew(): void {
    void end(this.#watcher)
    this.#watcher = this.#begin()
  }

  #begin(): FSWatcher {
    const watcher = watch([...this.#roots], { ignoreInitial: true, ignored: leadsAbove })
    watcher.on('all', (event, file) => {
      const path = resolve(file)
      const isRoot = this.#roots.includes(path)
      if (event.startsWith('unlink') && isRoot) this.#missing.add(path)
      if (isRoot || isSourceFile(path)) this.#listeners.changed()
    })
    // A directory that may not be read, a link to itself, too many open files: nothing of it may end the service.
    watcher.on('error', (raw) => {
      this.#hasFailed = true
      this.#listeners.unwatched(toError(raw))
    })
    return watcher
  }
}

/** Closing takes the listeners away; an error that comes after it must have one, or it would end the process. */
function end(watcher: FSWatcher): Promise<void> {
  const closed = watcher.close()
  watcher.on('error', () => undefined)
  return closed
}

/** Whether a path is, by links, one of the directories above it: following it would never end. */
function leadsAbove(path: string, stats?: Stats): boolean {
  if (stats?.isDirectory() !== true) return false
  try {
    const real = realpathSync(path)
    for (
      let [below, above] = [path, dirname(path)];
      above !== below;
      [below, above] = [above, dirname(above)]
    ) {
      if (realpathSync(above) === real) return true
    }
    return false
  } catch {
    // What is gone meanwhile, or may not be read, is told by the one who watches it.
    return false
  }
}
