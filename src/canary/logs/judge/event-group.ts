import type { Template } from '../grouping/templates.js'
import type { LineSeverity } from '../model/types.js'
import type { Topic } from '../topics/default-topics.js'
import type { SideEvents } from './side-events.js'

/** All events that say the same, with one topic, of one logger. */
export interface EventGroup {
  readonly template: Template
  readonly topic: Topic | undefined
  /** Empty where the layout of the log does not tell it. */
  readonly logger: string
  readonly severity: LineSeverity
  readonly baseline: SideEvents
  readonly canary: SideEvents
}
