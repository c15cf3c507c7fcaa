/** The last records of the log. */
export { LOG_LEVELS, LogBuffer, type LogFilter, type LogLevel, type LogRecord } from './model/log-buffer.ts';
