import { readSecrets } from '../config/read-secrets.js'
import type { EventLabels } from '../decisions/shipping/decision-event.js'
import type { ShapeDecision } from '../decisions/shipping/shape-event.js'
import { otlpLogs, UploadReceiver } from '../decisions/shipping/upload-receiver.js'
import { openServer } from '../distribution/fetching/make-fetch.js'
import { shownUrl } from '../lib/outbound/shown-url.js'
import type { DecisionReceiver } from '../store/ports/decision-shipping.js'
import { readAccess } from './configured-sources.js'
import type { DecisionSinkConfig } from './open-decision-sinks.js'

const CONTENT = { 'content-type': 'application/json', 'content-encoding': 'gzip' }

/** Opens an upload to a service, with secrets of this process. Throws `invalid` for a bad secret. */
export function openUpload(
  sink: Extract<DecisionSinkConfig, { type: 'opa' | 'otlp' }>,
  labels: EventLabels,
  shape: ShapeDecision,
): DecisionReceiver {
  const access = readAccess(sink, readSecrets({}, process.env), 'decisions.sinks')
  const { post, close } = openServer(sink.name, access)
  const isOtlp = sink.type === 'otlp'
  const url = `${sink.url.replace(/\/+$/, '')}${isOtlp ? '/v1/logs' : '/logs'}`
  const stopped = new AbortController()
  return new UploadReceiver({
    bodyOf: (shaped) =>
      isOtlp ? otlpLogs(shaped, labels) : `[${shaped.map(({ event }) => event).join(',')}]`,
    ...{ shownUrl: shownUrl(url), shape, maxUploadBytes: sink.maxUploadBytes, now: Date.now },
    post: (body) => post(url, { body, content: CONTENT }, stopped.signal),
    close: async () => {
      stopped.abort()
      await close()
    },
  })
}
