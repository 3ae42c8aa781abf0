import { z } from 'zod'

import type { Lookup, Tool } from './tool/tool.js'
import { optionalNamed, optionalText, named, shortText, toolUrl } from './tool/tool.js'

const ISSUE_KEY = {
  pattern: /^[A-Za-z][A-Za-z0-9_]{0,254}-\d{1,15}$/,
  words: 'an issue key such as OPS-12, or several',
}
const FIELDS = 'summary,status,priority,issuetype,assignee,resolution,updated'

const Issue = z.object({
  key: shortText,
  fields: z.object({
    summary: optionalText,
    status: named,
    priority: optionalNamed,
    issuetype: optionalNamed,
    assignee: z.object({ displayName: shortText }).nullish(),
    resolution: optionalNamed,
    updated: optionalText,
  }),
})

/**
 * Issues by key, from version 2 of the REST API of Jira Cloud, Server and Data Center: `GET
 * /rest/api/2/issue/{key}`.
 */
export const jira: Tool = {
  connectorTypes: ['JIRA'],
  lookups: (parameters, baseUrl) =>
    parameters.list('jira_ticket_no', ISSUE_KEY).map((key) => issueLookup(key.toUpperCase(), baseUrl)),
}

function issueLookup(issueKey: string, baseUrl: string): Lookup {
  return {
    subject: issueKey,
    fetch: async (read) => {
      const url = toolUrl(baseUrl, ['rest', 'api', '2', 'issue', issueKey], { fields: FIELDS })
      // A moved issue is returned under its new key.
      const { key, fields } = await read(Issue, url)
      const { summary, status, priority, issuetype, assignee, resolution, updated } = fields
      return [
        {
          jiraId: key,
          status,
          priority,
          summary,
          type: issuetype,
          assignee: assignee?.displayName ?? null,
          resolution,
          updated,
          url: toolUrl(baseUrl, ['browse', key]),
        },
      ]
    },
  }
}
