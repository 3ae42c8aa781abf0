import type { Connector, ConnectorAccount } from './tool/connectors.js'
import { github } from './github.js'
import { gitlab } from './gitlab.js'
import { http } from './tool/http.js'
import { jenkins } from './jenkins.js'
import { jira } from './jira.js'
import { makeConnector } from './make-connector.js'
import { servicenow } from './servicenow.js'
import { sonarqube } from './sonarqube.js'
import { bitbucketCloud } from './bitbucket-cloud.js'
import { bitbucketServer } from './bitbucket-server.js'
import { commitLookups } from './tool/commit-lookups.js'
import type { Tool } from './tool/tool.js'

/**
 * Commits with the results of their builds, and pull requests: from Bitbucket Cloud if the URL ends
 * with `/2.0` (`https://api.bitbucket.org/2.0`), else from Bitbucket Server or Data Center.
 */
const bitbucket: Tool = {
  connectorTypes: ['BITBUCKET'],
  lookups: (parameters, baseUrl) => {
    const isCloud = /\/2\.0\/?$/.test(baseUrl)
    return commitLookups(parameters, isCloud ? bitbucketCloud(baseUrl) : bitbucketServer(baseUrl))
  },
}

const tools = { bitbucket, github, gitlab, http, jenkins, jira, servicenow, sonarqube }

/** Tools with a connector. */
export type ToolName = keyof typeof tools

/** Makes the connector of an account at a tool. */
export function makeToolConnector(tool: ToolName, account: ConnectorAccount): Connector {
  return makeConnector(tools[tool], account)
}
