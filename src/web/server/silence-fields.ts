/** Reads what a form asks the daemon to do with silences. */
import { readDuration } from '../../config/model/values.ts';
import { type SilenceRequest, silenceRequest } from '../../notify/model/silence-request.ts';
import { PageError } from '../page-error.ts';
import { type FormFields, parseRequest } from './action-fields.ts';

/** Length of a silence, if the form names none. */
const USUAL_SILENCE = '4h';

/** Reads a request. `now`: milliseconds since the epoch. Throws PageError (422) for an invalid one. */
export function readSilence(fields: FormFields, now: number): SilenceRequest {
  const { action, id = '', code, organization, reason = '', for: length } = fields;
  if (action === 'silence-end') {
    return parseRequest(silenceRequest, { subcommand: 'end', id });
  }
  if (action !== 'silence') {
    throw new PageError(422, `The action ${JSON.stringify(action ?? '')} is not known. Use silence or silence-end.`);
  }
  const duration = readDuration(length || USUAL_SILENCE);
  if (duration === undefined || duration === 0) {
    throw new PageError(422, `The length ${JSON.stringify(length)} is not valid. Use one such as 30m, 4h or 1d.`);
  }
  const subject = { code: code || null, organization: organization || null };
  return parseRequest(silenceRequest, { subcommand: 'add', ...subject, reason, until: now + duration });
}
