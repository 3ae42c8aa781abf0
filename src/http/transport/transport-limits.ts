import type { ConnectionLimit } from './connection-limit.js'
import type { PartialBodies } from './partial-bodies.js'
import type { PageQueue } from './page-queue.js'
import type { RequestQueue } from './request-queue.js'
import type { UnreadAnswers } from './unread-answers.js'

/** Limits of a server. */
export interface TransportLimits {
  readonly partialBodies: PartialBodies
  readonly unreadAnswers: UnreadAnswers
  /** Queue of requests. */
  readonly requests: RequestQueue
  /** Queue of pages and lists. */
  readonly pages: PageQueue
  /** Receives each connection's first complete request. */
  readonly connections: Pick<ConnectionLimit, 'requestReceived'>
}
