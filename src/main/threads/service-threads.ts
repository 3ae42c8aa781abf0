import { openStore } from '../store/open-store.js'
import { compareInThread } from './comparison-thread.js'
import { openDecisionWriter } from './decision-writer-thread.js'
import { evaluateIntervalInThread, tryQueriesInThread } from './interval-thread.js'
import type { OpenDecisionWriter } from './decision-writer-thread.js'

/** What a service does beside the thread that decides. Another one does the same where it should run. */
export interface ServiceThreads {
  readonly openStore: typeof openStore
  readonly openDecisionWriter: OpenDecisionWriter
  readonly evaluateInterval: typeof evaluateIntervalInThread
  readonly tryQueries: typeof tryQueriesInThread
  readonly compare: typeof compareInThread
}

/** Each in a thread of its own. */
export const serviceThreads: ServiceThreads = {
  openStore,
  openDecisionWriter,
  evaluateInterval: evaluateIntervalInThread,
  tryQueries: tryQueriesInThread,
  compare: compareInThread,
}
