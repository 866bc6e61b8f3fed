# A client with Net::SMPP: binds, submits, waits for the receipt, queries and unbinds. Prints one line for each step.
use strict;
use warnings;
use Net::SMPP;

my ($port, $system_id, $password, $to) = @ARGV;
$| = 1;

my ($smpp, $bound) = Net::SMPP->new_transceiver('127.0.0.1',
    port => $port, system_id => $system_id, password => $password);
die 'no connection' unless $smpp;
print "bind $bound->{status}\n";

my $submitted = $smpp->submit_sm(
    source_addr_ton => 5, source_addr_npi => 0, source_addr => 'SHOP',
    dest_addr_ton => 1, dest_addr_npi => 1, destination_addr => $to,
    registered_delivery => 1, data_coding => 0, short_message => 'Hello from Perl');
my $id = $submitted->{message_id};
print "submit $submitted->{status} $id\n";

my $delivered = $smpp->read_pdu();
$smpp->deliver_sm_resp(seq => $delivered->{seq}, message_id => '');
print "receipt $delivered->{short_message}\n";

my $queried = $smpp->query_sm(message_id => $id, source_addr_ton => 5, source_addr_npi => 0, source_addr => 'SHOP');
print "query $queried->{status} $queried->{message_state}\n";

my $unbound = $smpp->unbind();
print "unbind $unbound->{status}\n";
