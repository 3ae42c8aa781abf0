import type { Connector, ConnectorAccount } from '../connectors.js'
import { bitbucket } from './bitbucket.js'
import { github } from './github.js'
import { gitlab } from './gitlab.js'
import { http } from './http.js'
import { jenkins } from './jenkins.js'
import { jira } from './jira.js'
import { makeConnector } from './make-connector.js'
import { servicenow } from './servicenow.js'
import { sonarqube } from './sonarqube.js'

const tools = { bitbucket, github, gitlab, http, jenkins, jira, servicenow, sonarqube }

/** The tools that there is a connector for. */
export type ToolName = keyof typeof tools

/** The connector of one account at a tool. */
export function makeToolConnector(tool: ToolName, account: ConnectorAccount): Connector {
  return makeConnector(tools[tool], account)
}
