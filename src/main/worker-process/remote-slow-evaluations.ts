import type { ProcessLink } from '../../lib/processes/process-link.js'
import type { EvaluationsOptions, Snapshot } from '../../rego/index.js'
import type { MainCalls } from '../workers/worker-calls.js'

/** The slow threads of the service, which are the main process's: there is one queue for the questions of all. */
export class RemoteSlowEvaluations {
  readonly #main: ProcessLink<MainCalls>
  readonly #threads: number
  readonly #idOf: (snapshot: Snapshot) => number
  #lastId = 0
  #asked = 0

  /** `threads` is how many there are; `idOf` tells by which number the main process knows policies. */
  constructor(main: ProcessLink<MainCalls>, threads: number, idOf: (snapshot: Snapshot) => number) {
    this.#main = main
    this.#threads = threads
    this.#idOf = idOf
  }

  /** As far as is known here: others may have taken them. */
  get isFree(): boolean {
    return this.#asked < this.#threads
  }

  readonly submit: EvaluationsOptions['slow']['submit'] = ({ key, snapshot, request }) => {
    const id = (this.#lastId += 1)
    this.#asked += 1
    const answer = this.#main
      .call('evaluate', { id, policies: this.#idOf(snapshot), key, request })
      .finally(() => (this.#asked -= 1))
    const drop = (): void => void this.#main.call('drop', id).catch(() => undefined)
    return { answer, drop }
  }
}
