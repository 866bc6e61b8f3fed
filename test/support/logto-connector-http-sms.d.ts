declare module "@logto/connector-http-sms" {
  interface Config {
    endpoint: string;
    authorization: string;
  }
  interface Message {
    to: string;
    type: string;
    payload: { code: string };
  }
  /** The part of the connector that Logto calls to send a code. */
  interface Connector {
    sendMessage(message: Message, config: Config): Promise<unknown>;
  }
  export default function createConnector(deps: { getConfig: () => Promise<Config> }): Promise<Connector>;
}
