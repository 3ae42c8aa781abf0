import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { Lookup, Tool } from './tool/tool.js'
import { optionalText, shortText, toolUrl } from './tool/tool.js'

const CHANGE_NUMBER = {
  pattern: /^[A-Za-z]{2,40}\d{1,20}$/,
  words: 'a change number such as CHG0030001, or several',
}
const FIELDS = {
  sys_id: shortText,
  number: shortText,
  state: shortText,
  approval: optionalText,
  risk: optionalText,
  priority: optionalText,
  type: optionalText,
  short_description: optionalText,
  assigned_to: optionalText,
  start_date: optionalText,
  end_date: optionalText,
}

const Changes = z.object({ result: z.array(z.object(FIELDS)) })

/**
 * Changes by number, with display values, from the Table API: `GET /api/now/table/change_request`.
 */
export const servicenow: Tool = {
  connectorTypes: ['SERVICENOW'],
  lookups: (parameters, baseUrl) =>
    parameters.list('number', CHANGE_NUMBER).map((number) => changeLookup(number.toUpperCase(), baseUrl)),
}

function changeLookup(number: string, baseUrl: string): Lookup {
  return {
    subject: number,
    fetch: async (read) => {
      const url = toolUrl(baseUrl, ['api', 'now', 'table', 'change_request'], {
        sysparm_query: `number=${number}`,
        sysparm_display_value: 'true',
        sysparm_exclude_reference_link: 'true',
        sysparm_fields: Object.keys(FIELDS).join(','),
        sysparm_limit: '1',
      })
      const [change] = (await read(Changes, url)).result
      if (change === undefined) throw new AppError('not_found', 'there is no such change')
      return [toOutput(change, baseUrl)]
    },
  }
}

function toOutput(change: z.output<typeof Changes>['result'][number], baseUrl: string): object {
  const { sys_id: id, number, state, approval, risk, priority, type } = change
  return {
    number,
    state,
    approval,
    risk,
    priority,
    type,
    summary: change.short_description,
    assignee: change.assigned_to,
    startDate: change.start_date,
    endDate: change.end_date,
    url: toolUrl(baseUrl, ['nav_to.do'], { uri: `change_request.do?sys_id=${id}` }),
  }
}
