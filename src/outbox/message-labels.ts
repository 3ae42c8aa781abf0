import { shownUrl } from '../lib/outbound/shown-url.js'
import { REDACTION_MARK } from '../lib/redaction/redacted.js'
import type { AuditEntry } from '../store/ports/audit-store.js'
import type { OutboxTopic, StoredMessage } from '../store/ports/outbox-store.js'

const SOURCES: Readonly<Record<OutboxTopic, AuditEntry['source']>> = {
  'gate.callback': 'gate',
  'webhook.relay': 'webhook',
  'analysis.notification': 'analysis',
}

/** Whose story a message of a topic belongs to in the trail. */
export function sourceOf(topic: OutboxTopic): AuditEntry['source'] {
  return SOURCES[topic]
}

/** Where a message goes, as it may be shown: the path of a chat's webhook is its secret. */
export function shownTarget({
  topic,
  url,
  receiver,
}: Pick<StoredMessage, 'topic' | 'url' | 'receiver'>): string {
  return topic === 'analysis.notification' ? `${receiver}/${REDACTION_MARK}` : shownUrl(url)
}
