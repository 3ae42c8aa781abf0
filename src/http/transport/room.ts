import type { ConnectionLimit } from './connection-limit.js'
import type { HalfBodies } from './half-bodies.js'
import type { PageTurns } from './page-turns.js'
import type { UnreadAnswers } from './unread-answers.js'
import type { WaitingLine } from './waiting-line.js'

/** What a server takes in at once. */
export interface Room {
  readonly halfBodies: HalfBodies
  readonly unreadAnswers: UnreadAnswers
  /** Where requests wait that ask for what may take long. */
  readonly line: Pick<WaitingLine, 'accepted' | 'takeTurn'>
  /** Where those wait that ask for pages and lists. */
  readonly pages: Pick<PageTurns, 'take'>
  /** Told of each that has sent a whole request. */
  readonly connections: Pick<ConnectionLimit, 'proven'>
}
