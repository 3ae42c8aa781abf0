import type { Config } from '../../config/config.js'
import type { ReadSecret } from '../../config/values/secret.js'
import type { NotificationReceiver, NotificationSettings } from '../../analysis/runs/notifications.js'
import { AppError } from '../../errors/app-error.js'
import type { ReportLinks } from '../../http/analysis-report/report-links.js'

/** Who is told of analyses, with the links that they get. Raises as `readSecret`, and `invalid` for what is no URL. */
export function analysisNotifications(
  { analysis, server }: Config,
  readSecret: ReadSecret,
  reportLinks: ReportLinks,
): NotificationSettings {
  const base = server.publicUrl?.replace(/\/+$/, '')
  return {
    receivers: analysis.notifications.map(({ url, on, applications }, place): NotificationReceiver => ({
      ...{ on, applications },
      url: httpUrl(readSecret(url).reveal(), `analysis.notifications[${place}].url`),
    })),
    reportUrl: (run, nowMs) =>
      base === undefined ? undefined : `${base}/analysis/report/${run.id}/${reportLinks.issue(run, nowMs)}`,
  }
}

function httpUrl(text: string, place: string): string {
  if (URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)) return text
  throw new AppError('invalid', `${place} names a secret that is no http or https URL`)
}
