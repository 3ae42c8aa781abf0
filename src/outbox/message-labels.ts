import { shownUrl } from '../lib/outbound/shown-url.js'
import { REDACTION_MARK } from '../lib/redaction/redacted.js'
import type { AuditEntry } from '../store/ports/audit-store.js'
import type { OutboxTopic, StoredMessage } from '../store/ports/outbox-store.js'

const SOURCES: Readonly<Record<OutboxTopic, AuditEntry['source']>> = {
  'gate.callback': 'gate',
  'webhook.relay': 'webhook',
  'analysis.notification': 'analysis',
  notification: 'webhook',
}

/** Source of a topic's audit records. */
export function sourceOf(topic: OutboxTopic): AuditEntry['source'] {
  return SOURCES[topic]
}

/** Target of a message without secrets. The path of a chat webhook is one. */
export function shownTarget({
  topic,
  url,
  receiver,
}: Pick<StoredMessage, 'topic' | 'url' | 'receiver'>): string {
  return topic === 'analysis.notification' ? `${receiver}/${REDACTION_MARK}` : shownUrl(url)
}
