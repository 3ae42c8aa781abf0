import type { ConnectionLimit } from './connection-limit.js'
import type { PartialBodies } from './partial-bodies.js'
import type { PageQueue } from './page-queue.js'
import type { RequestQueue } from './request-queue.js'
import type { UnreadAnswers } from './unread-answers.js'

/** What a server takes in at once. */
export interface TransportLimits {
  readonly partialBodies: PartialBodies
  readonly unreadAnswers: UnreadAnswers
  /** Where requests wait for their turn. */
  readonly requests: RequestQueue
  /** Where those wait that ask for pages and lists. */
  readonly pages: PageQueue
  /** Told of each that has sent a whole request. */
  readonly connections: Pick<ConnectionLimit, 'requestReceived'>
}
