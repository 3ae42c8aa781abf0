import { readRunsChunk } from './read-runs.js'
import { recordEvents } from './record-events.js'
import { keepWebhook } from './relay-webhook.js'

/** What the store can be asked of events and relayed webhooks. */
export const eventReads = [readRunsChunk] as const
export const eventWrites = [recordEvents, keepWebhook] as const
